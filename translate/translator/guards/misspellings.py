"""Common misspellings, which a model reads as other words: "recieve", "alot", "comme même"."""

from __future__ import annotations

import re
from functools import partial

from translate.translator.guards.abbreviations import in_full
from translate.translator.guards.contractions import expanded

_ENGLISH = (
    "accomodate=accommodate, accomodation=accommodation, accross=across, acctually=actually, acheive=achieve, "
    "acheived=achieved, acheivement=achievement, acommodation=accommodation, actualy=actually, addres=address, "
    "adress=address, adresses=addresses, agian=again, agianst=against, allright=all right, allways=always, "
    "alot=a lot, alrite=all right, alwasy=always, ammount=amount, anohter=another, aparently=apparently, "
    "apparantly=apparently, appearence=appearance, appriciate=appreciate, apreciate=appreciate, "
    "arguement=argument, aswell=as well, atleast=at least, attenion=attention, availabe=available, "
    "availible=available, avaliable=available, basicaly=basically, basicly=basically, beacuse=because, "
    "beatiful=beautiful, beautifel=beautiful, beautifull=beautiful, beautifuly=beautifully, becasue=because, "
    "becaus=because, becouse=because, becuase=because, beetween=between, beggining=beginning, begining=beginning, "
    "behavour=behaviour, beleive=believe, beleived=believed, belive=believe, benifit=benefit, bewteen=between, "
    "bougth=bought, breakfeast=breakfast, brekfast=breakfast, brillant=brilliant, brougth=brought, "
    "buisness=business, busness=business, bussiness=business, carefull=careful, "
    "catagory=category, certian=certain, charachter=character, childern=children, choclate=chocolate, "
    "chosse=choose, colleage=colleague, collegue=colleague, collegues=colleagues, comittee=committee, "
    "comming=coming, commited=committed, commitee=committee, completley=completely, completly=completely, "
    "computor=computer, comunication=communication, concious=conscious, congradulations=congratulations, "
    "contry=country, convinient=convenient, coud=could, cusin=cousin, decison=decision, defiantely=definitely, "
    "definately=definitely, definatly=definitely, definetly=definitely, definitly=definitely, delicous=delicious, "
    "desicion=decision, desided=decided, desparate=desperate, develope=develop, developement=development, "
    "diferent=different, difficlut=difficult, diffrent=different, dificult=difficult, disapear=disappear, "
    "disapointed=disappointed, discribe=describe, discusion=discussion, dissapear=disappear, "
    "dissapeared=disappeared, dissapoint=disappoint, dissapointed=disappointed, doesnot=does not, "
    "dolars=dollars, eachother=each other, eigth=eight, embarassed=embarrassed, embarassing=embarrassing, "
    "embarrased=embarrassed, enought=enough, enuf=enough, enviroment=environment, equiptment=equipment, "
    "especialy=especially, everbody=everybody, everone=everyone, everthing=everything, evryday=every day, "
    "evryone=everyone, evrything=everything, exacly=exactly, excelent=excellent, excercise=exercise, "
    "exellent=excellent, exept=except, exersise=exercise, existance=existence, "
    "expecially=especially, expencive=expensive, experiance=experience, expirience=experience, "
    "explaination=explanation, extremly=extremely, familar=familiar, familly=family, famouse=famous, "
    "favorit=favourite, favourit=favourite, febuary=February, feburary=February, finacial=financial, "
    "finaly=finally, fone=phone, foriegn=foreign, fourty=forty, foward=forward, freind=friend, freinds=friends, "
    "frend=friend, frist=first, garantee=guarantee, garrage=garage, generaly=generally, genious=genius, "
    "geuss=guess, goign=going, goodmorning=good morning, goverment=government, govermment=government, "
    "gratefull=grateful, greatful=grateful, guarentee=guarantee, happend=happened, "
    "happenning=happening, happyness=happiness, "
    "haveing=having, heigth=height, helth=health, highschool=high school, hollyday=holiday, "
    "hospitol=hospital, hte=the, hten=then, htink=think, humourous=humorous, hungery=hungry, iland=island, "
    "imediately=immediately, immediatley=immediately, immediatly=immediately, imporant=important, "
    "importent=important, independant=independent, infact=in fact, infomation=information, "
    "informations=information, infront=in front, insted=instead, inteligent=intelligent, interessting=interesting, "
    "interupt=interrupt, intrested=interested, intresting=interesting, jelous=jealous, jewelery=jewellery, "
    "jsut=just, judgemant=judgement, kichen=kitchen, kno=know, knowlege=knowledge, konw=know, langauge=language, "
    "languge=language, libary=library, lisence=licence, literaly=literally, litle=little, littel=little, "
    "lovley=lovely, machien=machine, maintainance=maintenance, maintenence=maintenance, marrige=marriage, "
    "medecine=medicine, ment=meant, meny=many, mesage=message, messege=message, minuite=minute, minuites=minutes, "
    "mischievious=mischievous, mispell=misspell, moutain=mountain, neccesary=necessary, neccessary=necessary, "
    "necesary=necessary, nieghbour=neighbour, nieghbours=neighbours, niether=neither, nite=night, noone=no one, "
    "nothign=nothing, noticable=noticeable, ocassion=occasion, ocassionally=occasionally, "
    "occasionaly=occasionally, occassion=occasion, occured=occurred, occurence=occurrence, occuring=occurring, "
    "ofcourse=of course, offen=often, ohter=other, opionion=opinion, oportunity=opportunity, "
    "oppurtunity=opportunity, orginal=original, parants=parents, peice=piece, peple=people, perfact=perfect, "
    "permenant=permanent, perphaps=perhaps, perticular=particular, pitcure=picture, pleaase=please, plese=please, "
    "poeple=people, populer=popular, porblem=problem, posible=possible, practicly=practically, prefered=preferred, "
    "preffer=prefer, probaly=probably, probelm=problem, probelms=problems, probly=probably, "
    "professionnal=professional, proffesional=professional, proffesor=professor, prolly=probably, "
    "pronounciation=pronunciation, psycology=psychology, publically=publicly, qestion=question, queit=quiet, "
    "quesiton=question, quesitons=questions, quikly=quickly, qutie=quite, realy=really, reccomend=recommend, "
    "reccommend=recommend, recentley=recently, reciept=receipt, recieve=receive, recieved=received, "
    "recieving=receiving, recomend=recommend, recomended=recommended, rediculous=ridiculous, refered=referred, "
    "reffer=refer, relevent=relevant, religous=religious, rember=remember, remeber=remember, remmember=remember, "
    "reson=reason, responsability=responsibility, responsable=responsible, restaraunt=restaurant, "
    "restaraunts=restaurants, restaurent=restaurant, restaurents=restaurants, restraunt=restaurant, "
    "resturant=restaurant, resturants=restaurants, rigth=right, schedual=schedule, scool=school, "
    "secratary=secretary, sence=sense, sentance=sentence, seperate=separate, seperated=separated, "
    "seperately=separately, severel=several, shcool=school, shoping=shopping, shoud=should, shuold=should, "
    "siad=said, sience=science, similiar=similar, simular=similar, sincerley=sincerely, sincerly=sincerely, "
    "sinse=since, sistem=system, sistre=sister, somethign=something, somthing=something, somtimes=sometimes, "
    "speach=speech, speical=special, stong=strong, stoped=stopped, straigth=straight, strenght=strength, "
    "studant=student, studing=studying, stupit=stupid, succes=success, succesful=successful, "
    "succesfully=successfully, successfull=successful, sucess=success, sucessful=successful, "
    "sucessfully=successfully, suhc=such, suposed=supposed, suprise=surprise, suprised=surprised, "
    "suprising=surprising, surprize=surprise, swiming=swimming, taht=that, tath=that, techer=teacher, teh=the, "
    "tehy=they, tempature=temperature, temprature=temperature, thankyou=thank you, themselfs=themselves, "
    "thier=their, thign=thing, thna=than, thnk=think, thougt=thought, throught=through, thsi=this, tieing=tying, "
    "tihs=this, togather=together, togheter=together, tommorow=tomorrow, tommorrow=tomorrow, tomorow=tomorrow, "
    "tomorro=tomorrow, tounge=tongue, truely=truly, tryed=tried, twelth=twelfth, umberella=umbrella, "
    "understnad=understand, undestand=understand, unfortunatley=unfortunately, unfortunatly=unfortunately, "
    "univercity=university, untill=until, usally=usually, usualy=usually, vaccum=vacuum, vacum=vacuum, "
    "vairous=various, valuble=valuable, vegtable=vegetable, vegtables=vegetables, vehical=vehicle, verry=very, "
    "vilage=village, visiter=visitor, waht=what, waitting=waiting, watter=water, wednsday=Wednesday, weeek=week, "
    "wehn=when, wehre=where, wekend=weekend, wellcome=welcome, wendesday=Wednesday, wensday=Wednesday, "
    "wheather=weather, whihc=which, whlie=while, whne=when, whta=what, wich=which, wieght=weight, "
    "wierd=weird, wiht=with, withot=without, witout=without, wnat=want, wnated=wanted, wnet=went, womam=woman, "
    "wonderfull=wonderful, worng=wrong, woud=would, writting=writing, wrok=work, wroking=working, wtih=with, "
    "wuold=would, yeer=year, yestarday=yesterday, yesturday=yesterday, yoru=your, yourselve=yourself, yuong=young"
)
_FRENCH = (
    "abientot=à bientôt, abientôt=à bientôt, abite=habite, acceuil=accueil, acceuillir=accueillir, acueil=accueil, "
    "addresse=adresse, adrese=adresse, agréble=agréable, ailleur=ailleurs, anfant=enfant, anfants=enfants, "
    "apartement=appartement, apel=appel, apeler=appeler, apelle=appelle, apelé=appelé, appartment=appartement, "
    "appele=appelle, appeller=appeler, appellé=appelé, aprendre=apprendre, aprè=après, aprés=après, "
    "aprés-midi=après-midi, arive=arrive, ariver=arriver, arivé=arrivé, atendre=attendre, atention=attention, "
    "aujourdui=aujourd'hui, beaucoupe=beaucoup, beaucoups=beaucoup, bientôts=bientôt, bizare=bizarre, "
    "bizzare=bizarre, bojour=bonjour, bonjoure=bonjour, boucoup=beaucoup, "
    "boulengerie=boulangerie, cauchemard=cauchemar, certin=certain, chanbre=chambre, chèr=cher, cinèma=cinéma, "
    "collegue=collègue, collegues=collègues, colègue=collègue, comence=commence, comencer=commencer, "
    "coment=comment, commen=comment, conais=connais, conaître=connaître, cordialements=cordialement, "
    "cordialment=cordialement, dacor=d'accord, dangeureux=dangereux, demein=demain, demin=demain, "
    "dificile=difficile, dimenche=dimanche, domage=dommage, dépèche=dépêche, désolè=désolé, "
    "dévellopement=développement, développemment=développement, enfain=enfin, ensenble=ensemble, "
    "environement=environnement, excelent=excellent, exellent=excellent, fatigé=fatigué, fenètre=fenêtre, "
    "fète=fête, heureu=heureux, heureus=heureux, hopitale=hôpital, hôpitale=hôpital, hôtelle=hôtel, "
    "imédiatement=immédiatement, inportant=important, interressant=intéressant, interréssant=intéressant, "
    "intéréssant=intéressant, jamai=jamais, jammais=jamais, madamme=madame, magazin=magasin, maintenan=maintenant, "
    "maintenent=maintenant, malgrè=malgré, malgrés=malgré, malheuresement=malheureusement, "
    "malheuresment=malheureusement, malheureusment=malheureusement, manifique=magnifique, manjer=manger, "
    "mersi=merci, mintenant=maintenant, monsieure=monsieur, mourrir=mourir, notament=notamment, "
    "nouvau=nouveau, nécéssaire=nécessaire, ocasion=occasion, occassion=occasion, ordinateure=ordinateur, "
    "ortographe=orthographe, paciente=patiente, pamal=pas mal, parceque=parce que, "
    "parmis=parmi, peus=peux, peutetre=peut-être, peutêtre=peut-être, plaisire=plaisir, plusieur=plusieurs, "
    "pourqoi=pourquoi, pourquoie=pourquoi, pourtent=pourtant, prochin=prochain, professionel=professionnel, "
    "professionelle=professionnelle, proffesionel=professionnel, proffesseur=professeur, qestion=question, "
    "qoi=quoi, quelqun=quelqu'un, quelquun=quelqu'un, rancontre=rencontre, randez-vous=rendez-vous, "
    "rapeler=rappeler, rapelle=rappelle, rappele=rappelle, rappeller=rappeler, reguarde=regarde, "
    "rendé-vous=rendez-vous, restorant=restaurant, retart=retard, reçevoir=recevoir, segond=second, semedi=samedi, "
    "semène=semaine, siteplait=s'il te plaît, sivouplait=s'il vous plaît, soleille=soleil, soluction=solution, "
    "souvant=souvent, surment=sûrement, tems=temps, toujour=toujours, toujoure=toujours, traval=travail, tro=trop, "
    "télephone=téléphone, téléfone=téléphone, vaccances=vacances, vandredi=vendredi, veritée=vérité, "
    "vraiement=vraiment, vraimant=vraiment, vraimment=vraiment, wekend=week-end, ècole=école, éssayer=essayer"
)
_RIGHT = {
    lang: dict(word.split("=") for word in words.split(", ")) for lang, words in (("en", _ENGLISH), ("fr", _FRENCH))
}
_NAMES = "(?:Frist|Kno|Meny|Noone|Offen|Segond|Stong|Wellcome|Yoru)"
_WORDS = {
    lang: re.compile(rf"(?<![\w/@#*.'’\"“-])(?!{_NAMES}\b)(?i:{'|'.join(words)})(?![\w/@*'’-]|\.\w)")
    for lang, words in _RIGHT.items()
}
_ELIDED = (  # behind a letter and a space, which people type for an apostrophe: "c est"
    r"(?:(?<=[Cc] )(?=(?:est|[ée]tait)\b)|(?<=[Dd] )(?=(?:abord|accord|ailleurs|avoir|habitude|[êe]tre)\b)"
    r"|(?<=[JjLl] )(?!(?:as|au|avec|en|est|et|ont|ou|une?)\b)(?=[aeiouyhàâéèêôœ]\w)|(?<=u )(?=[aeiouyhàâéèêôœ]\w)"
    r"|(?<=[Mm] )(?=(?:appelle|ont)\b)|(?<=[Nn] )(?=(?:ai|est pas|importe|y)\b)|(?<=[Ss] )(?=il\b)"
    r"|(?<=[Tt] )(?=(?:as|es|inquiète)\b))"
)
_LETTERED = (  # vitamine C, le l est muet
    "classe de du entier groupe la le lettre ligne où note plan point soit taille type un vitamine"
)
_NO_LETTER = "".join(rf"(?<!\b{word} )" for word in _LETTERED.split())
_COMPARED = "[Ll]ess|[Mm]ore|[Rr]ather|better|bigger|cheaper|easier|faster|older|smaller|worse|younger"
_OWN = "(?:her|his|its|my|our|their|your) own"
_THEY_ARE = (
    r"going to\b|coming (?:back|home|over|to|tomorrow)\b|not (?:coming|going|here|ready|sure)\b|here(?:\s?[.,!?]|\Z)"
)
_THAN_WHAT = (
    "I|an?|any|anyone|anything|ever|expected|he|her|him|his|it|me|my|our|she|that|the|their|them|these|they|this|those|us|we"
    r"|you|your|\d+"
)
_TOO_WHAT = "early|late|many|much|slow|soon"
_NO_VERB = r"(?:\s?[.,!?]|\Z| for\b| to\b)"  # "to slow climate change"
_PATTERNS = {
    "en": (
        (re.compile(rf"\b(could|might|must|should|would) of\b(?! (?:course|necessity|need|{_OWN})\b)"), r"\1 have"),
        (re.compile(r"(?:\A|(?<=[.,!?] ))([Yy])our welcome\b(?=\s?[.,!]|\Z)"), r"\1ou're welcome"),
        (re.compile(r"(?:\A|(?<=[.,!?] ))([Yy])our (?=(?:going|kidding|not|so)\b)"), r"\1ou're "),
        (re.compile(rf"\b([Tt])heir (?={_THEY_ARE})"), r"\1hey're "),
        (re.compile(rf"\b({_COMPARED}) then (?=(?:{_THAN_WHAT})\b)"), r"\1 than "),
        (re.compile(rf"(['’][ms]|\bam|\bis|\bare|\bwas) to (?=(?:{_TOO_WHAT}){_NO_VERB})"), r"\1 too "),
        (re.compile(r"\bloose (?=weight\b)"), "lose "),
    ),
    "fr": (
        (re.compile(r"\b([Ss])a (?=(?:va|fait|suffit|dépend|roule)\b)"), "ça "),
        (re.compile(r"(?:\A|(?<=[.!?,] ))([Ss])a (?=marche(?: pas| bien| mal)?(?:\s?[.!?,]|\Z))"), "ça "),
        (re.compile(r"\b[Cc]omme même\b(?! (?:l[ea]s?|mes|mon|ses|son|un|une)\b| l['’])"), "quand même"),
        (re.compile(r"\bd['’]avence\b"), "d'avance"),
        (
            re.compile(r"\b[Ss]es (?=(?:trop (?:beau|bien|bon|cher|cool|drôle|dur|long|nul|tard)|quoi|vrai)\b)"),
            "c'est ",
        ),
        (re.compile(r"\bse (?=(?:que|qui|truc|film|soir|matin|midi)\b)"), "ce "),
        (re.compile(r"(?:\A|(?<=[.!?,] ))[Tt]a (?=(?:vu|fait|dit|pas|mangé|fini|compris)\b)"), "t'as "),
        (re.compile(r"\b((?i:elle|il|on|qui)) ma (?=(?:dit|fait|vu|donné|demandé|parlé|écrit|répondu)\b)"), r"\1 m'a "),
        (re.compile(rf"(?<![\w'’.`-])(?<!\d ){_NO_LETTER}([cdjlmnst]|qu) {_ELIDED}"), r"\1'"),
        (re.compile(rf"(?:\A|(?<=[.!?] ))([CDJLMNST]|Qu) {_ELIDED}"), r"\1'"),
    ),
}


def plain_spelling(text: str, src_lang: str) -> str:
    """Return English or French text without common misspellings, but for words with a capital, which may be names.

    >>> plain_spelling("I recieved alot more then you. Thats wierd, Freind!", "en")
    'I received a lot more than you. Thats weird, Freind!'
    >>> plain_spelling("Sa va bien, mersi. C est bon", "fr")
    "Ça va bien, merci. C'est bon"
    """
    right = _RIGHT[src_lang]
    text = _WORDS[src_lang].sub(lambda match: in_full(match, right.get(match[0].lower(), match[0])), text)
    for pattern, words in _PATTERNS[src_lang]:
        text = pattern.sub(partial(expanded, words), text)
    return text
