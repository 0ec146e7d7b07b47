"""Common misspellings, which a model reads as other words: "recieve", "alot", "comme même"."""

from __future__ import annotations

import re
from functools import partial

from translate.translator.guards.contractions import WORD, expanded, with_words

_ENGLISH = (
    "abscence=absence, absense=absence, absolutley=absolutely, absolutly=absolutely, accesible=accessible, "
    "accidentaly=accidentally, accomodate=accommodate, accomodation=accommodation, accross=across, "
    "acctually=actually, acheive=achieve, acheived=achieved, acheivement=achievement, acknowlege=acknowledge, "
    "acommodation=accommodation, acording=according, acount=account, activites=activities, actualy=actually, "
    "addres=address, adress=address, adresses=addresses, advertisment=advertisement, affraid=afraid, "
    "afterall=after all, agian=again, agianst=against, agressive=aggressive, alchohol=alcohol, alchol=alcohol, "
    "alergic=allergic, allmost=almost, allready=already, allright=all right, allthough=although, "
    "alltogether=altogether, allways=always, alot=a lot, alredy=already, alrite=all right, althought=although, "
    "altough=although, alwasy=always, amatuer=amateur, ammount=amount, amoung=among, aniversary=anniversary, "
    "anohter=another, anwser=answer, anythign=anything, aparently=apparently, apartement=apartment, "
    "apparantly=apparently, appartment=apartment, appearence=appearance, appriciate=appreciate, "
    "appropiate=appropriate, apreciate=appreciate, aquaintance=acquaintance, aquire=acquire, arguement=argument, "
    "artical=article, aswell=as well, atleast=at least, attendence=attendance, attenion=attention, "
    "availabe=available, availible=available, avaliable=available, awfull=awful, awnser=answer, basicaly=basically, "
    "basicly=basically, beacause=because, beacuse=because, beatiful=beautiful, beautful=beautiful, "
    "beautifel=beautiful, beautifull=beautiful, beautifuly=beautifully, beautyful=beautiful, becasue=because, "
    "becaus=because, becomming=becoming, becouse=because, becuase=because, becuse=because, beetween=between, "
    "befor=before, beggining=beginning, begining=beginning, behavour=behaviour, beleif=belief, beleive=believe, "
    "beleived=believed, belive=believe, benifit=benefit, betwen=between, bewteen=between, bougth=bought, "
    "boyfreind=boyfriend, breakfeast=breakfast, brekfast=breakfast, brillant=brilliant, brocolli=broccoli, "
    "brougth=brought, buisness=business, buliding=building, busness=business, bussiness=business, bycicle=bicycle, "
    "carefull=careful, carefuly=carefully, catagory=category, cemetary=cemetery, certanly=certainly, "
    "certian=certain, challange=challenge, charachter=character, charactor=character, cheif=chief, chiken=chicken, "
    "childern=children, choclate=chocolate, choise=choice, chosse=choose, chrismas=Christmas, cofee=coffee, "
    "colleage=colleague, collegue=colleague, collegues=colleagues, comittee=committee, comming=coming, "
    "commited=committed, commitee=committee, committment=commitment, comparision=comparison, completley=completely, "
    "completly=completely, computor=computer, comunication=communication, concious=conscious, "
    "confortable=comfortable, congradulations=congratulations, consistant=consistent, contry=country, "
    "convinient=convenient, coud=could, coudl=could, could'nt=couldn't, coutry=country, curiousity=curiosity, "
    "cusin=cousin, decison=decision, decission=decision, defenitely=definitely, defiantely=definitely, "
    "definately=definitely, definatley=definitely, definatly=definitely, definetly=definitely, "
    "definitley=definitely, definitly=definitely, defintely=definitely, delicous=delicious, desease=disease, "
    "desicion=decision, desided=decided, desparate=desperate, develope=develop, developement=development, "
    "did'nt=didn't, dident=didn't, diferent=different, differant=different, differnt=different, difficlut=difficult, "
    "diffrence=difference, diffrent=different, dificult=difficult, disapear=disappear, disapointed=disappointed, "
    "disapointment=disappointment, disasterous=disastrous, discribe=describe, discription=description, "
    "discusion=discussion, dissapear=disappear, dissapeared=disappeared, dissapoint=disappoint, "
    "dissapointed=disappointed, dissapointment=disappointment, does'nt=doesn't, doesnot=does not, dolars=dollars, "
    "dosen't=doesn't, dosnt=doesn't, durring=during, eachother=each other, easly=easily, efficent=efficient, "
    "eigth=eight, electricty=electricity, embarassed=embarrassed, embarassing=embarrassing, embarrased=embarrassed, "
    "enogh=enough, enought=enough, enuf=enough, enviroment=environment, equipement=equipment, equiptment=equipment, "
    "especialy=especially, eventhough=even though, eventualy=eventually, everbody=everybody, everone=everyone, "
    "everthing=everything, everyhting=everything, everythign=everything, everyting=everything, evryday=every day, "
    "evryone=everyone, evrything=everything, exacly=exactly, exagerate=exaggerate, excelent=excellent, "
    "excellant=excellent, excercise=exercise, excitment=excitement, exellent=excellent, exept=except, "
    "exersise=exercise, existance=existence, expecially=especially, expencive=expensive, experiance=experience, "
    "experince=experience, expierence=experience, expirience=experience, explaination=explanation, "
    "extreamly=extremely, extremly=extremely, facinating=fascinating, familar=familiar, familes=families, "
    "familiy=family, familly=family, famouse=famous, fasion=fashion, favorit=favourite, favourit=favourite, "
    "febuary=February, feburary=February, finacial=financial, finaly=finally, finnaly=finally, firend=friend, "
    "firends=friends, folow=follow, folowing=following, fone=phone, foreing=foreign, forgoten=forgotten, "
    "foriegn=foreign, fourty=forty, foward=forward, freind=friend, freindly=friendly, freinds=friends, frend=friend, "
    "frist=first, fullfill=fulfil, garantee=guarantee, garrage=garage, gaurantee=guarantee, generaly=generally, "
    "genious=genius, geuss=guess, girlfreind=girlfriend, goign=going, goodmorning=good morning, "
    "goverment=government, govermment=government, gratefull=grateful, greatful=grateful, guarentee=guarantee, "
    "guarenteed=guaranteed, habbit=habit, happend=happened, happended=happened, happenning=happening, "
    "happines=happiness, happyness=happiness, harrassment=harassment, have'nt=haven't, haveing=having, "
    "havn't=haven't, heared=heard, heigth=height, helpfull=helpful, helth=health, highschool=high school, "
    "hollyday=holiday, hopefull=hopeful, hopefuly=hopefully, hospitol=hospital, hosptial=hospital, hte=the, "
    "hten=then, htink=think, humourous=humorous, hungery=hungry, hygeine=hygiene, iland=island, imagin=imagine, "
    "imediately=immediately, immediatley=immediately, immediatly=immediately, imporant=important, "
    "importent=important, imposible=impossible, improtant=important, improvment=improvement, "
    "independance=independence, independant=independent, infact=in fact, infomation=information, "
    "informations=information, infront=in front, insted=instead, inteligent=intelligent, interessting=interesting, "
    "intersting=interesting, interupt=interrupt, intrested=interested, intresting=interesting, is'nt=isn't, "
    "jelous=jealous, jewelery=jewellery, jsut=just, judgemant=judgement, kichen=kitchen, kno=know, "
    "knowledgable=knowledgeable, knowlege=knowledge, knwo=know, konw=know, langauge=language, languge=language, "
    "laywer=lawyer, lenght=length, libary=library, liek=like, lisence=licence, literaly=literally, litle=little, "
    "littel=little, lonley=lonely, lovley=lovely, luckly=luckily, mabye=maybe, machien=machine, "
    "maintainance=maintenance, maintance=maintenance, maintenence=maintenance, managment=management, "
    "marraige=marriage, marrige=marriage, medecine=medicine, ment=meant, meny=many, mesage=message, messege=message, "
    "milion=million, minuite=minute, minuites=minutes, mischievious=mischievous, mispell=misspell, "
    "mountian=mountain, moutain=mountain, musuem=museum, myslef=myself, neccesary=necessary, neccessary=necessary, "
    "necesary=necessary, nieghbour=neighbour, nieghbours=neighbours, niether=neither, ninty=ninety, nite=night, "
    "noone=no one, normaly=normally, nothign=nothing, noticable=noticeable, nowdays=nowadays, ocassion=occasion, "
    "ocassionally=occasionally, occasionaly=occasionally, occassion=occasion, occassionally=occasionally, "
    "occured=occurred, occurence=occurrence, occuring=occurring, ofcourse=of course, offen=often, offical=official, "
    "ohter=other, opinon=opinion, opionion=opinion, oportunity=opportunity, oposite=opposite, "
    "oppertunity=opportunity, oppurtunity=opportunity, orginal=original, ourselfs=ourselves, parants=parents, "
    "particulary=particularly, passanger=passenger, peice=piece, peolpe=people, peopel=people, peple=people, "
    "perfact=perfect, permanant=permanent, permenant=permanent, perphaps=perhaps, personaly=personally, "
    "perticular=particular, pitcure=picture, pleaase=please, pleasent=pleasant, plese=please, poeple=people, "
    "populer=popular, porblem=problem, posible=possible, potatoe=potato, potatos=potatoes, powerfull=powerful, "
    "practicly=practically, prefered=preferred, preffer=prefer, presure=pressure, prety=pretty, "
    "priviledge=privilege, probally=probably, probaly=probably, probelm=problem, probelms=problems, probem=problem, "
    "probly=probably, profesional=professional, professionnal=professional, proffesional=professional, "
    "proffesor=professor, prolly=probably, pronounciation=pronunciation, propably=probably, psycology=psychology, "
    "publically=publicly, qestion=question, queit=quiet, quesiton=question, quesitons=questions, quikly=quickly, "
    "qutie=quite, realy=really, reccomend=recommend, reccomended=recommended, reccommend=recommend, receipe=recipe, "
    "recentley=recently, reciept=receipt, recieve=receive, recieved=received, recieving=receiving, "
    "recomend=recommend, recomendation=recommendation, recomended=recommended, rediculous=ridiculous, "
    "refered=referred, reffer=refer, refrence=reference, refridgerator=refrigerator, relevent=relevant, "
    "religous=religious, rember=remember, remeber=remember, rememeber=remember, remmember=remember, reson=reason, "
    "responce=response, responsability=responsibility, responsable=responsible, restaraunt=restaurant, "
    "restaraunts=restaurants, restaurent=restaurant, restaurents=restaurants, restraunt=restaurant, "
    "restuarant=restaurant, resturant=restaurant, resturants=restaurants, rigth=right, roomate=roommate, "
    "runing=running, rythm=rhythm, saftey=safety, sandwhich=sandwich, sandwitch=sandwich, saterday=Saturday, "
    "satuday=Saturday, schedual=schedule, scool=school, secratary=secretary, sence=sense, sentance=sentence, "
    "sentense=sentence, seperate=separate, seperated=separated, seperately=separately, seriosly=seriously, "
    "severel=several, shcool=school, shoping=shopping, shoud=should, shoudl=should, shuold=should, siad=said, "
    "sience=science, similiar=similar, simular=similar, sincerley=sincerely, sincerly=sincerely, sinse=since, "
    "sistem=system, sistre=sister, slighly=slightly, soemthing=something, sombody=somebody, somehting=something, "
    "somethign=something, someting=something, somone=someone, somthing=something, somtimes=sometimes, "
    "spagetti=spaghetti, speach=speech, speical=special, stong=strong, stoped=stopped, straigth=straight, "
    "strenght=strength, strenth=strength, stuborn=stubborn, studant=student, studing=studying, stupit=stupid, "
    "succes=success, succesful=successful, succesfull=successful, succesfully=successfully, successfull=successful, "
    "sucess=success, sucessful=successful, sucessfully=successfully, sugestion=suggestion, suhc=such, "
    "sumthing=something, supose=suppose, suposed=supposed, suprise=surprise, suprised=surprised, "
    "suprising=surprising, surprize=surprise, swiming=swimming, symtoms=symptoms, tahnks=thanks, taht=that, "
    "tath=that, techer=teacher, technolgy=technology, teh=the, tehy=they, tempature=temperature, "
    "temprature=temperature, terible=terrible, thankfull=thankful, thankyou=thank you, theif=thief, "
    "themselfs=themselves, therfore=therefore, thier=their, thign=thing, thigns=things, thna=than, thnaks=thanks, "
    "thnk=think, thougt=thought, throught=through, thsi=this, tieing=tying, tihs=this, togather=together, "
    "togheter=together, toliet=toilet, tomarrow=tomorrow, tommorow=tomorrow, tommorrow=tomorrow, tomorow=tomorrow, "
    "tomorro=tomorrow, totaly=totally, tounge=tongue, traditonal=traditional, transfered=transferred, truely=truly, "
    "tryed=tried, tuseday=Tuesday, twelth=twelfth, umberella=umbrella, unbelivable=unbelievable, "
    "understnad=understand, undestand=understand, unecessary=unnecessary, unfortunatley=unfortunately, "
    "unfortunatly=unfortunately, unfortunetly=unfortunately, univercity=university, univeristy=university, "
    "unkown=unknown, untill=until, usally=usually, usefull=useful, useing=using, usualy=usually, vaccum=vacuum, "
    "vacum=vacuum, vairous=various, valuble=valuable, vegtable=vegetable, vegtables=vegetables, vehical=vehicle, "
    "veiw=view, verry=very, vilage=village, visiter=visitor, waht=what, waitting=waiting, was'nt=wasn't, "
    "watter=water, wednsday=Wednesday, weeek=week, wehn=when, wehre=where, wekend=weekend, wellcome=welcome, "
    "wendesday=Wednesday, wensday=Wednesday, werid=weird, whcih=which, wheather=weather, wheter=whether, "
    "whihc=which, whith=with, whlie=while, whne=when, whta=what, wich=which, wieght=weight, wierd=weird, wiht=with, "
    "withot=without, witout=without, wnat=want, wnated=wanted, wnet=went, womam=woman, wonderfull=wonderful, "
    "worng=wrong, woud=would, woudl=would, would'nt=wouldn't, writeing=writing, writen=written, writting=writing, "
    "wrok=work, wroking=working, wtih=with, wuold=would, yeer=year, yeild=yield, yestarday=yesterday, "
    "yesteday=yesterday, yesturday=yesterday, yoru=your, yourselfs=yourselves, yourselve=yourself, youself=yourself, "
    "yuong=young, yuor=your"
)
_FRENCH = (
    "abientot=à bientôt, abientôt=à bientôt, abite=habite, acceuil=accueil, acceuillir=accueillir, achéte=achète, "
    "acueil=accueil, addresse=adresse, adition=addition, adrese=adresse, aggressif=agressif, agréble=agréable, "
    "ailleur=ailleurs, allors=alors, ancore=encore, anfant=enfant, anfants=enfants, aniversaire=anniversaire, "
    "anée=année, anées=années, apareil=appareil, apartement=appartement, apel=appel, apeler=appeler, apelle=appelle, "
    "apelé=appelé, appartment=appartement, appele=appelle, appeller=appeler, appellé=appelé, appercevoir=apercevoir, "
    "apperçu=aperçu, aprendre=apprendre, aprends=apprends, apris=appris, aprè=après, apré=après, aprés=après, "
    "aprés-midi=après-midi, arive=arrive, ariver=arriver, arivé=arrivé, arivée=arrivée, arrète=arrête, "
    "arréte=arrête, assé=assez, atendre=attendre, atends=attends, atention=attention, aujoud'hui=aujourd'hui, "
    "aujourd'huit=aujourd'hui, aujourd'ui=aujourd'hui, aujourdui=aujourd'hui, aurevoir=au revoir, ausi=aussi, "
    "avek=avec, baggages=bagages, beacoup=beaucoup, beaucou=beaucoup, beaucoupe=beaucoup, beaucoups=beaucoup, "
    "besion=besoin, biensur=bien sûr, biensûr=bien sûr, biento=bientôt, bientôts=bientôt, bisoux=bisous, "
    "bizare=bizarre, bizous=bisous, bizzare=bizarre, bocoup=beaucoup, bojour=bonjour, bonjoure=bonjour, "
    "bonnejournée=bonne journée, boucoup=beaucoup, boulengerie=boulangerie, bète=bête, cauchemard=cauchemar, "
    "celà=cela, cependent=cependant, certin=certain, chanbre=chambre, chaqun=chacun, cheuveux=cheveux, chèr=cher, "
    "chépa=je ne sais pas, chépas=je ne sais pas, cinèma=cinéma, collegue=collègue, collegues=collègues, "
    "colègue=collègue, comande=commande, comence=commence, comencer=commencer, coment=comment, commance=commence, "
    "commancer=commencer, commen=comment, conais=connais, conaître=connaître, confience=confiance, "
    "cordialements=cordialement, cordialment=cordialement, couleure=couleur, courrir=courir, croivent=croient, "
    "d'accor=d'accord, dabord=d'abord, dacor=d'accord, dailleurs=d'ailleurs, dangeureuse=dangereuse, "
    "dangeureux=dangereux, dautres=d'autres, demein=demain, demende=demande, demin=demain, depui=depuis, "
    "derniére=dernière, derriére=derrière, dhabitude=d'habitude, difficil=difficile, dificile=difficile, "
    "diférence=différence, dimenche=dimanche, discution=discussion, disponnible=disponible, domage=dommage, "
    "dèjà=déjà, démande=demande, dépuis=depuis, dépèche=dépêche, désolè=désolé, dévellopement=développement, "
    "dévelloper=développer, développemment=développement, embarassé=embarrassé, endroi=endroit, enfain=enfin, "
    "enfait=en fait, enfaite=en fait, ensenble=ensemble, environement=environnement, erreure=erreur, "
    "escusez=excusez, eske=est-ce que, espére=espère, esque=est-ce que, est-ceque=est-ce que, excelent=excellent, "
    "exellent=excellent, exeption=exception, facil=facile, faisez=faites, famile=famille, fatigé=fatigué, "
    "fenètre=fenêtre, fenétre=fenêtre, fesais=faisais, fesait=faisait, finallement=finalement, fonctione=fonctionne, "
    "françai=français, frére=frère, fète=fête, féte=fête, gentillement=gentiment, gratui=gratuit, heureu=heureux, "
    "heureus=heureux, histoir=histoire, hopitale=hôpital, horraire=horaire, horraires=horaires, hôpitale=hôpital, "
    "hôtelle=hôtel, imposible=impossible, imédiatement=immédiatement, inportant=important, inquiéte=inquiète, "
    "instaler=installer, inteligent=intelligent, interressant=intéressant, interréssant=intéressant, "
    "intérressant=intéressant, intéréssant=intéressant, intérét=intérêt, içi=ici, jadore=j'adore, "
    "jaimerais=j'aimerais, jamai=jamais, jammais=jamais, jattends=j'attends, jaurais=j'aurais, javoue=j'avoue, "
    "jcomprends=je comprends, jconnais=je connais, jdois=je dois, jespère=j'espère, jfais=je fais, jhabite=j'habite, "
    "jmappelle=je m'appelle, jme=je me, jpense=je pense, jpeu=je peux, jpeux=je peux, jrentre=je rentre, "
    "jsui=je suis, jtaime=je t'aime, jtappelle=je t'appelle, jte=je te, jusquau=jusqu'au, jusquà=jusqu'à, "
    "jvai=je vais, jveu=je veux, jveux=je veux, jviens=je viens, jvois=je vois, jvoulais=je voulais, kand=quand, "
    "kelke=quelque, kelkun=quelqu'un, kesk=qu'est-ce que, keske=qu'est-ce que, keski=qu'est-ce qui, lannée=l'année, "
    "lheure=l'heure, longtemp=longtemps, lontemps=longtemps, madamme=madame, magazin=magasin, mainteant=maintenant, "
    "maintenan=maintenant, maintenent=maintenant, malgrè=malgré, malgrés=malgré, malhereusement=malheureusement, "
    "malheuresement=malheureusement, malheuresment=malheureusement, malheureusment=malheureusement, "
    "manifique=magnifique, manjer=manger, mapelle=m'appelle, mappelle=m'appelle, mecredi=mercredi, meileur=meilleur, "
    "mersi=merci, merçi=merci, mieu=mieux, mintenant=maintenant, monsieure=monsieur, mourrir=mourir, méme=même, "
    "mére=mère, nimporte=n'importe, normallement=normalement, notament=notamment, nouvau=nouveau, nouvele=nouvelle, "
    "néanmoin=néanmoins, nécéssaire=nécessaire, ocasion=occasion, occassion=occasion, offrire=offrir, "
    "ordinateure=ordinateur, ortographe=orthographe, paciente=patiente, pamal=pas mal, parcequ'il=parce qu'il, "
    "parceque=parce que, parmis=parmi, parreil=pareil, parske=parce que, parsque=parce que, paske=parce que, "
    "pasque=parce que, personelle=personnelle, personellement=personnellement, peu-être=peut-être, peus=peux, "
    "peut-ètre=peut-être, peut-étre=peut-être, peutetre=peut-être, peutêtre=peut-être, piéce=pièce, "
    "plaisire=plaisir, plusieur=plusieurs, porquoi=pourquoi, posible=possible, pourais=pourrais, pourait=pourrait, "
    "pouriez=pourriez, pourkoi=pourquoi, pourqoi=pourquoi, pourqoui=pourquoi, pourquoie=pourquoi, "
    "pourquois=pourquoi, pourtent=pourtant, premiére=première, prennez=prenez, printemp=printemps, "
    "probléme=problème, prochainne=prochaine, prochin=prochain, profesionnel=professionnel, "
    "professionel=professionnel, professionelle=professionnelle, proffesionel=professionnel, proffesseur=professeur, "
    "préfére=préfère, prét=prêt, pére=père, qand=quand, qestion=question, qoi=quoi, qualitée=qualité, "
    "quatres=quatre, quelq'un=quelqu'un, quelque'un=quelqu'un, quelqun=quelqu'un, quelquun=quelqu'un, "
    "quesque=qu'est-ce que, quil=qu'il, quils=qu'ils, rancontre=rencontre, randez-vous=rendez-vous, rapel=rappel, "
    "rapeler=rappeler, rapelle=rappelle, raport=rapport, rappele=rappelle, rappeller=rappeler, reguarde=regarde, "
    "rendezvous=rendez-vous, rendé-vous=rendez-vous, restorant=restaurant, retart=retard, reçevoir=recevoir, "
    "rève=rêve, récement=récemment, réponce=réponse, santée=santé, sappelle=s'appelle, savoire=savoir, "
    "segond=second, semedi=samedi, semène=semaine, seulment=seulement, silteplait=s'il te plaît, "
    "silvouplait=s'il vous plaît, siteplait=s'il te plaît, siteplaît=s'il te plaît, sivouplait=s'il vous plaît, "
    "soleille=soleil, soluction=solution, souvant=souvent, steplait=s'il te plaît, steuplait=s'il te plaît, "
    "succés=succès, suprimer=supprimer, surment=sûrement, surtou=surtout, sympatique=sympathique, sérieu=sérieux, "
    "telement=tellement, tellment=tellement, tems=temps, terasse=terrasse, tinquiète=t'inquiète, tojours=toujours, "
    "toujour=toujours, toujoure=toujours, toujous=toujours, toulemonde=tout le monde, tpeux=tu peux, "
    "trankil=tranquille, tranquile=tranquille, travailer=travailler, traval=travail, tro=trop, trés=très, "
    "tsais=tu sais, tveux=tu veux, télephone=téléphone, téléfone=téléphone, téte=tête, univercité=université, "
    "vaccances=vacances, vandredi=vendredi, veritée=vérité, veuiller=veuillez, veus=veux, vilage=village, "
    "vraiement=vraiment, vraimant=vraiment, vraimen=vraiment, vraimment=vraiment, vrément=vraiment, "
    "vétements=vêtements, wekend=week-end, ècole=école, ètre=être, éssaie=essaie, éssayer=essayer, étre=être, "
    "éxactement=exactement, éxemple=exemple"
)
_RIGHT = {
    lang: dict(word.split("=") for word in words.split(", ")) for lang, words in (("en", _ENGLISH), ("fr", _FRENCH))
}
_NAMES = "(?:Frist|Kno|Meny|Noone|Offen|Segond|Stong|Wellcome|Yoru)"
_WORD = re.compile(rf"(?<![\w/@#*.'’\"“-])(?!{_NAMES}\b){WORD}(?![\w/@*'’-]|\.\w)")
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
_BEGIN = r"(?:\A|(?<=[.,!?] ))"  # of a clause
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
        (re.compile(rf"{_BEGIN}([Yy])our welcome\b(?=\s?[.,!]|\Z)"), r"\1ou're welcome"),
        (re.compile(rf"{_BEGIN}([Yy])our (?=(?:going|kidding|not|so)\b)"), r"\1ou're "),
        (re.compile(rf"\b([Tt])heir (?={_THEY_ARE})"), r"\1hey're "),
        (re.compile(rf"\b({_COMPARED}) then (?=(?:{_THAN_WHAT})\b)"), r"\1 than "),
        (re.compile(rf"(['’][ms]|\bam|\bis|\bare|\bwas) to (?=(?:{_TOO_WHAT}){_NO_VERB})"), r"\1 too "),
        (re.compile(r"\bloose (?=weight\b)"), "lose "),
    ),
    "fr": (
        (re.compile(r"\b([Ss])a (?=(?:va|fait|suffit|dépend|roule)\b)"), "ça "),
        (re.compile(rf"{_BEGIN}([Ss])a (?=marche(?: pas| bien| mal)?(?:\s?[.!?,]|\Z))"), "ça "),
        (re.compile(r"\b[Cc]omme même\b(?! (?:l[ea]s?|mes|mon|ses|son|un|une)\b| l['’])"), "quand même"),
        (re.compile(r"\bd['’]avence\b"), "d'avance"),
        (
            re.compile(r"\b[Ss]es (?=(?:trop (?:beau|bien|bon|cher|cool|drôle|dur|long|nul|tard)|quoi|vrai)\b)"),
            "c'est ",
        ),
        (re.compile(r"\bse (?=(?:que|qui|truc|film|soir|matin|midi)\b)"), "ce "),
        (re.compile(rf"{_BEGIN}[Tt]a (?=(?:vu|fait|dit|pas|mangé|fini|compris)\b)"), "t'as "),
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
    text = with_words(text, _WORD, _RIGHT[src_lang])
    for pattern, words in _PATTERNS[src_lang]:
        text = pattern.sub(partial(expanded, words), text)
    return text
