// The page: what is typed is translated sentence by sentence; a word shows what it is aligned to, a sentence its others.

const WAIT = 300; // milliseconds after the last key
const ALTERNATIVES = 3;
const FORMALITY_OF = "fr"; // the language that can be asked to say tu or vous
const find = (id) => document.getElementById(id);
const page = Object.fromEntries(
  ["text", "backdrop", "translation", "source", "target", "swap", "count", "status", "copy", "clear", "theme", "choices",
    "alternatives", "formality", "terms", "attention", "layer", "head", "file", "download"].map((id) => [id, find(id)]),
);
page.attentionDrawer = find("attention-drawer");
page.formalityChoice = find("formality-choice");

// What is on the page: sentences and what is between them, each with its translations and the one that is shown.
const state = { segments: [], source: "", target: "", chosen: -1, attention: null, request: null, timer: 0 };

function make(name, text = "", properties = {}) {
  const element = document.createElement(name);
  element.textContent = text;
  return Object.assign(element, properties);
}

async function ask(path, body, signal) {
  const answer = await fetch(path, {
    method: "POST", signal, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
  });
  const values = await answer.json();
  if (!answer.ok) throw new Error(values.error);
  return values;
}

function say(message, isError = false) {
  page.status.textContent = message;
  page.status.classList.toggle("error", isError);
}

// Words are what spaces separate; each with where it begins.
function words(text) {
  return [...text.matchAll(/\S+/g)].map((match) => ({ text: match[0], start: match.index, end: match.index + match[0].length }));
}

function terms() {
  const pairs = page.terms.value.split("\n").map((line) => line.split("=").map((part) => part.trim()));
  return Object.fromEntries(pairs.filter(([source, target]) => source && target));
}

function formality() {
  return page.target.value === FORMALITY_OF ? page.formality.value : "";
}

function offerFormality() {
  page.formalityChoice.hidden = page.target.value !== FORMALITY_OF;
}

function later() {
  page.count.textContent = `${page.text.value.length.toLocaleString("en")} characters`;
  page.translation.classList.add("stale");
  clearTimeout(state.timer);
  state.timer = setTimeout(translate, WAIT);
}

async function translate() {
  clearTimeout(state.timer);
  state.request?.abort();
  const text = page.text.value;
  const request = new AbortController();
  state.request = request;
  if (!text.trim()) return show({ segments: [], source: "", target: "" });
  const own = terms();
  const protect = Object.keys(own).length > 0;
  try {
    const languages = { source: page.source.value, target: page.target.value };
    const body = { text, ...languages, alternatives: ALTERNATIVES, formality: formality() };
    show(await ask("v1/translate", { ...body, ...(protect ? { protect, terms: own } : { alignments: true }) }, request.signal));
  } catch (error) {
    if (error.name !== "AbortError") say(error.message, true);
  }
}

function show(found) {
  let start = 0;
  state.segments = found.segments.map((segment) => {
    const placed = { ...segment, start, shown: 0 };
    start += segment.text.length;
    return placed;
  });
  Object.assign(state, { source: found.source, target: found.target, chosen: -1 });
  page.translation.replaceChildren(...state.segments.map(segmentElement));
  page.translation.classList.remove("stale");
  const named = page.source.querySelector(`option[value="${CSS.escape(found.source)}"]`)?.textContent ?? "";
  say(page.source.value === "auto" && named ? `${named} detected` : "");
  page.translation.lang = found.target;
  page.choices.hidden = true;
  light([]);
}

function segmentElement(segment, number) {
  if (!segment.translations.length) return make("span", segment.text);
  const element = make("span", "", { className: "sentence", tabIndex: 0 });
  element.setAttribute("role", "button");
  element.setAttribute("aria-expanded", String(state.chosen === number));
  element.setAttribute("aria-controls", "choices");
  element.dataset.number = number;
  const { text } = segment.translations[segment.shown];
  let end = 0;
  words(text).forEach((word, place) => {
    element.append(text.slice(end, word.start));
    const child = make("span", word.text);
    child.dataset.word = place;
    element.append(child);
    end = word.end;
  });
  element.append(text.slice(end));
  return element;
}

// Lights up source words (start and end in the text) and words of the translation.
function light(ranges, targets = []) {
  const text = page.text.value;
  const parts = [];
  let end = 0;
  for (const [from, to] of ranges.sort((a, b) => a[0] - b[0])) {
    if (from < end) continue;
    parts.push(text.slice(end, from), make("mark", text.slice(from, to)));
    end = to;
  }
  page.backdrop.replaceChildren(...parts, text.slice(end));
  page.backdrop.scrollTop = page.text.scrollTop;
  for (const word of page.translation.querySelectorAll("[data-word]")) {
    word.classList.toggle("lit", targets.includes(word));
  }
}

function lightFromTranslation(word) {
  const segment = state.segments[Number(word.parentElement.dataset.number)];
  const links = segment.translations[segment.shown].alignment ?? [];
  const sources = words(segment.text);
  const linked = links.filter(([, target]) => target === Number(word.dataset.word)).map(([source]) => sources[source]);
  light(linked.filter(Boolean).map((source) => [segment.start + source.start, segment.start + source.end]), [word]);
}

function lightFromSource() {
  const at = page.text.selectionStart;
  const number = state.segments.findIndex((one) => one.translations.length && at >= one.start && at <= one.start + one.text.length);
  if (number < 0 || document.activeElement !== page.text || page.translation.classList.contains("stale")) return light([]);
  const segment = state.segments[number];
  const sources = words(segment.text);
  const place = sources.findIndex((word) => at >= segment.start + word.start && at <= segment.start + word.end);
  const links = segment.translations[segment.shown].alignment ?? [];
  const element = page.translation.querySelector(`[data-number="${number}"]`);
  const targets = links.filter(([source]) => source === place).map(([, target]) => element.querySelector(`[data-word="${target}"]`));
  const word = sources[place];
  return light(word && targets.length ? [[segment.start + word.start, segment.start + word.end]] : [], targets);
}

function choose(number) {
  state.chosen = number;
  for (const element of page.translation.querySelectorAll(".sentence")) {
    element.setAttribute("aria-expanded", String(Number(element.dataset.number) === number));
  }
  const segment = state.segments[number];
  const others = segment.translations.map((one, place) => [one, place]).filter(([, place]) => place !== segment.shown);
  page.alternatives.replaceChildren(...others.map(([one, place]) => {
    const item = document.createElement("li");
    const button = make("button", one.text, { type: "button", onclick: () => take(number, place) });
    button.title = `score ${one.score}`;
    item.append(button);
    return item;
  }));
  if (!others.length) page.alternatives.replaceChildren(make("li", "There is no other."));
  page.choices.hidden = false;
  if (page.attentionDrawer.open) attend();
}

function take(number, place) {
  state.segments[number].shown = place;
  const old = page.translation.querySelector(`[data-number="${number}"]`);
  const element = segmentElement(state.segments[number], number);
  old.replaceWith(element);
  choose(number);
  element.focus();
}

async function attend() {
  const number = state.chosen >= 0 ? state.chosen : state.segments.findIndex((one) => one.translations.length);
  if (number < 0) return;
  const segment = state.segments[number];
  const body = { text: segment.text, translation: segment.translations[segment.shown].text, source: state.source, target: state.target };
  try {
    state.attention = await ask("v1/attention", body);
  } catch (error) {
    page.attention.replaceChildren(make("p", error.message, { className: "error" }));
    return;
  }
  const layers = state.attention.weights.length;
  const heads = state.attention.weights[0].length;
  fill(page.layer, layers, layers - 1);
  fill(page.head, heads, -1);
  draw();
}

// The numbers from 1 to count, and the mean of all; keeps what was chosen.
function fill(select, count, first) {
  if (select.options.length === count + 1) return;
  const options = Array.from({ length: count }, (_, place) => make("option", String(place + 1), { value: String(place) }));
  select.replaceChildren(make("option", "mean", { value: "-1" }), ...options);
  select.value = String(first);
}

function draw() {
  const { weights, source_pieces: sources, target_pieces: targets } = state.attention;
  const some = (all, place) => (place < 0 ? all : [all[place]]);
  const maps = some(weights, Number(page.layer.value)).flatMap((layer) => some(layer, Number(page.head.value)));
  const table = document.createElement("table");
  const head = table.createTHead().insertRow();
  head.append(make("td"), ...sources.map((piece) => make("th", piece.replace("▁", " "), { scope: "col" })));
  const body = table.createTBody();
  targets.forEach((piece, row) => {
    const line = body.insertRow();
    line.append(make("th", piece.replace("▁", " "), { scope: "row" }));
    sources.forEach((_, column) => {
      const weight = maps.reduce((sum, map) => sum + map[row][column], 0) / maps.length;
      const cell = line.insertCell();
      cell.style.setProperty("--weight", weight.toFixed(3));
      cell.title = `${piece} ← ${sources[column]}: ${weight.toFixed(2)}`;
    });
  });
  page.attention.replaceChildren(table);
}

function swap() {
  const from = page.source.value === "auto" ? state.source || page.source.options[1].value : page.source.value;
  const text = page.translation.textContent;
  const to = page.target.value;
  page.source.value = to;
  page.target.value = from === to ? [...page.target.options].find((option) => option.value !== to).value : from;
  offerFormality();
  if (text) page.text.value = text;
  later();
}

async function sendFile(file) {
  const form = new FormData();
  form.set("file", file);
  form.set("source", page.source.value);
  form.set("target", page.target.value);
  form.set("formality", formality());
  page.download.textContent = `Translating ${file.name} …`;
  try {
    const answer = await fetch("translate_file", { method: "POST", body: form });
    const values = await answer.json();
    if (!answer.ok) throw new Error(values.error);
    page.download.replaceChildren(make("a", `Fetch ${file.name}`, { href: values.translatedFileUrl }));
  } catch (error) {
    page.download.textContent = error.message;
  }
  page.download.closest("details").open = true;
}

async function drop(event) {
  document.body.classList.remove("dropping");
  const [file] = event.dataTransfer.files;
  if (!file) return;
  event.preventDefault();
  if (file.name.endsWith(".txt") && file.size < 20_000) {
    page.text.value = await file.text();
    later();
  } else {
    sendFile(file);
  }
}

function dress(theme) {
  document.documentElement.dataset.theme = theme;
  page.theme.setAttribute("aria-pressed", String(theme === "dark"));
}

async function begin() {
  const dark = window.matchMedia("(prefers-color-scheme: dark)").matches;
  dress(localStorage.getItem("theme") ?? (dark ? "dark" : "light"));
  const languages = await (await fetch("languages")).json();
  const options = () => languages.map(({ code, name }) => make("option", name, { value: code }));
  page.source.replaceChildren(make("option", "Detect language", { value: "auto" }), ...options());
  page.target.replaceChildren(...options());
  const { language } = await (await fetch("frontend/settings")).json();
  page.target.value = language.target.code;
  offerFormality();
  if (page.text.value) later();
}

page.text.addEventListener("input", later);
page.text.addEventListener("scroll", () => { page.backdrop.scrollTop = page.text.scrollTop; });
document.addEventListener("selectionchange", lightFromSource);
page.terms.addEventListener("input", later);
page.source.addEventListener("change", translate);
page.target.addEventListener("change", () => { offerFormality(); translate(); });
page.formality.addEventListener("change", translate);
page.swap.addEventListener("click", swap);
page.clear.addEventListener("click", () => { page.text.value = ""; later(); page.text.focus(); });
page.copy.addEventListener("click", async () => {
  await navigator.clipboard.writeText(page.translation.textContent);
  say("Copied");
});
page.theme.addEventListener("click", () => {
  const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  localStorage.setItem("theme", theme);
  dress(theme);
});
page.translation.addEventListener("pointerover", (event) => {
  if (event.target.closest("[data-word]")) lightFromTranslation(event.target.closest("[data-word]"));
});
page.translation.addEventListener("pointerleave", () => light([]));
page.translation.addEventListener("click", (event) => {
  const sentence = event.target.closest(".sentence");
  if (sentence) choose(Number(sentence.dataset.number));
});
page.translation.addEventListener("keydown", (event) => {
  const sentence = event.target.closest(".sentence");
  if (sentence && ["Enter", " "].includes(event.key)) {
    event.preventDefault();
    choose(Number(sentence.dataset.number));
  }
});
page.attentionDrawer.addEventListener("toggle", () => { if (page.attentionDrawer.open) attend(); });
page.layer.addEventListener("change", draw);
page.head.addEventListener("change", draw);
page.file.addEventListener("change", () => { if (page.file.files[0]) sendFile(page.file.files[0]); });
for (const kind of ["dragover", "dragleave"]) {
  document.addEventListener(kind, (event) => {
    event.preventDefault();
    document.body.classList.toggle("dropping", kind === "dragover");
  });
}
document.addEventListener("drop", drop);
begin().catch((error) => say(error.message, true));
