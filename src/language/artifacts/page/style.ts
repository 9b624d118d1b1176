/** The style of the generated page, for light and dark alike. */
export const pageStyle = `
:root {
  color-scheme: light dark;
  --back: light-dark(#ffffff, #14161b);
  --side: light-dark(#f5f6f8, #1a1d23);
  --panel: light-dark(#fafbfc, #1b1e25);
  --line: light-dark(#e1e4ea, #2d323c);
  --text: light-dark(#1b1f27, #e6e8ec);
  --faint: light-dark(#5c6472, #9aa3b2);
  --accent: light-dark(#2456d6, #8fb0ff);
  --on-accent: light-dark(#ffffff, #10131a);
  --chosen: light-dark(#e4ebfd, #25304b);
  --good: light-dark(#13713f, #6fd59f);
  --bad: light-dark(#b3261e, #ff9b93);
  --bad-back: light-dark(#fdeeed, #34191a);
  --get: light-dark(#13713f, #6fd59f);
  --post: light-dark(#2456d6, #8fb0ff);
  --patch: light-dark(#8a5300, #f0b868);
  --delete: light-dark(#b3261e, #ff9b93);
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", Menlo, monospace;
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
html, body { height: 100%; }
body {
  margin: 0;
  display: grid;
  grid-template-columns: 19rem minmax(0, 1fr);
  background: var(--back);
  color: var(--text);
  font: 15px/1.5 system-ui, "Segoe UI", "Liberation Sans", sans-serif;
}
h1, h2, h3 { line-height: 1.25; margin: 0; font-weight: 650; text-wrap: balance; }
h1 { font-size: 1.45rem; }
h2 { font-size: 1.05rem; }
h3 { font-size: .95rem; }
p { margin: 0; }
a { color: var(--accent); }
code, .mono { font-family: var(--mono); font-size: .88em; overflow-wrap: anywhere; }
.faint { color: var(--faint); }
.hidden {
  position: absolute; width: 1px; height: 1px; overflow: hidden;
  clip-path: inset(50%); white-space: nowrap;
}
.skip { position: absolute; left: -100vw; z-index: 2; }
.skip:focus { left: .5rem; top: .5rem; padding: .4rem .8rem; background: var(--back); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
main:focus { outline: none; }

.side {
  position: sticky; top: 0; height: 100dvh; overflow: auto;
  padding: 1.1rem .8rem 2rem; background: var(--side); border-right: 1px solid var(--line);
}
.brand {
  display: block; padding: 0 .6rem .8rem; color: inherit; text-decoration: none;
  font-size: 1.1rem; font-weight: 700; overflow-wrap: anywhere;
}
.search { display: block; padding: 0 .2rem .6rem; }
.group { margin: .9rem 0 0; }
.group h2 { font-size: .8rem; padding: .1rem .6rem .25rem; }
.panel h2 a { text-decoration: none; }
.panel h2 a:hover { text-decoration: underline; }
.group h2 { color: var(--faint); }
.group h2 a { color: var(--faint); text-decoration: none; letter-spacing: .02em; }
.group h2 a:hover { color: var(--text); }
.group ul { list-style: none; margin: 0; padding: 0; }
.link {
  display: grid; grid-template-columns: 3.6rem minmax(0, 1fr); gap: .3rem; align-items: baseline;
  padding: .26rem .6rem; border-radius: 6px; color: inherit; text-decoration: none;
}
.link:hover { background: var(--chosen); }
.link[aria-current] { background: var(--chosen); font-weight: 600; }
.link span:last-child { overflow-wrap: anywhere; }
.method { font-family: var(--mono); font-size: .7rem; font-weight: 700; color: var(--faint); }
.GET { color: var(--get); }
.POST { color: var(--post); }
.PUT, .PATCH { color: var(--patch); }
.DELETE { color: var(--delete); }

main { padding: 1.8rem clamp(1rem, 3vw, 2.6rem) 4rem; display: grid; gap: 1.4rem; align-content: start; }
.title { display: grid; gap: .35rem; }
.path { display: flex; flex-wrap: wrap; gap: .6rem; align-items: baseline; font-family: var(--mono); }
.path .method { font-size: .85rem; }
.path b { color: var(--accent); font-weight: 600; }
.panel { border: 1px solid var(--line); border-radius: 10px; background: var(--panel); padding: 1rem 1.1rem; }
.cards { display: grid; gap: .9rem; grid-template-columns: repeat(auto-fill, minmax(17rem, 1fr)); }
.cards .panel { display: grid; gap: .5rem; align-content: start; }
.cards ul { margin: 0; padding: 0; list-style: none; display: grid; gap: .15rem; }
.cards .link { padding-left: 0; padding-right: 0; }

form { display: grid; gap: 1rem; }
.fields { display: grid; gap: .8rem 1rem; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); }
.field { display: grid; gap: .25rem; align-content: start; }
.field.wide { grid-column: 1 / -1; }
.field label { font-weight: 600; font-size: .88rem; overflow-wrap: anywhere; }
.field .need { color: var(--bad); }
.field small { color: var(--faint); font-size: .78rem; line-height: 1.35; }
.field .fault { color: var(--bad); }
fieldset { border: 0; margin: 0; padding: 0; display: grid; gap: .8rem; min-width: 0; }
legend { font-weight: 650; padding: 0; margin-bottom: .5rem; }
input, select, textarea {
  width: 100%; padding: .45rem .6rem; border: 1px solid var(--line); border-radius: 7px;
  background: var(--back); color: inherit; font: inherit; font-size: .92rem;
}
input:user-invalid, [aria-invalid="true"] { border-color: var(--bad); }
textarea { min-height: 2.4rem; field-sizing: content; max-height: 24rem; resize: vertical; }
textarea.code { min-height: 9rem; font-family: var(--mono); font-size: .82rem; }
.row { display: flex; flex-wrap: wrap; gap: .6rem; align-items: center; }
.push { margin-left: auto; }
button {
  padding: .45rem .95rem; border: 1px solid var(--line); border-radius: 7px; cursor: pointer;
  background: var(--back); color: inherit; font: inherit; font-size: .92rem;
}
button:hover:not(:disabled) { border-color: var(--accent); }
button:disabled { opacity: .45; cursor: default; }
button.main { background: var(--accent); border-color: var(--accent); color: var(--on-accent); font-weight: 600; }
button.danger { background: var(--bad); border-color: var(--bad); color: var(--back); font-weight: 600; }
button.plain {
  border: 0; background: none; padding: 0; color: var(--accent); text-align: left;
  font-family: var(--mono); font-size: inherit; overflow-wrap: anywhere;
}
button.plain:hover { text-decoration: underline; }
button[aria-pressed="true"] { border-color: var(--accent); color: var(--accent); }

.answer { display: grid; gap: .8rem; min-width: 0; }
.answer .head { display: flex; flex-wrap: wrap; gap: .3rem .9rem; align-items: baseline; }
.tag { font-family: var(--mono); font-size: .8rem; font-weight: 700; color: var(--good); }
.tag.bad { color: var(--bad); }
.error { border-color: var(--bad); background: var(--bad-back); display: grid; gap: .5rem; }
.scroll { overflow: auto; border: 1px solid var(--line); border-radius: 10px; max-height: 75dvh; }
table { border-collapse: separate; border-spacing: 0; width: max-content; min-width: 100%; font-size: .86rem; }
th, td { text-align: left; vertical-align: top; padding: .45rem .75rem; border-bottom: 1px solid var(--line); }
tr:last-child td { border-bottom: 0; }
th { position: sticky; top: 0; background: var(--side); font-weight: 650; white-space: nowrap; z-index: 1; }
td { max-width: 22rem; overflow-wrap: break-word; }
tbody tr:hover { background: var(--panel); }
.number { font-family: var(--mono); font-size: .92em; font-variant-numeric: tabular-nums; }
.chip {
  display: inline-block; margin: 0 .25rem .2rem 0; padding: 0 .45rem; border: 1px solid var(--line);
  border-radius: 999px; background: var(--back); font-size: .8rem; max-width: 100%; overflow-wrap: anywhere;
}
pre {
  margin: 0; padding: .8rem; overflow: auto; max-height: 30rem; border: 1px solid var(--line);
  border-radius: 8px; background: var(--back); font: .8rem/1.5 var(--mono); white-space: pre-wrap;
  overflow-wrap: anywhere;
}
dl { display: grid; grid-template-columns: minmax(6rem, 12rem) minmax(0, 1fr); gap: .45rem 1rem; margin: 0; }
dl dl { grid-template-columns: minmax(5rem, 9rem) minmax(0, 1fr); border-left: 2px solid var(--line); padding-left: .8rem; }
dt { color: var(--faint); font-family: var(--mono); font-size: .8rem; overflow-wrap: anywhere; padding-top: .1rem; }
dd { margin: 0; overflow-wrap: anywhere; white-space: pre-wrap; }
dd ol { margin: 0; padding-left: 1.4rem; display: grid; gap: .4rem; }
summary { cursor: pointer; color: var(--faint); font-size: .88rem; }
details[open] > summary { margin-bottom: .5rem; }

dialog {
  width: min(46rem, calc(100vw - 2rem)); max-height: calc(100dvh - 3rem); padding: 0; overflow: auto;
  border: 1px solid var(--line); border-radius: 12px; background: var(--back); color: inherit;
}
dialog::backdrop { background: rgb(0 0 0 / .45); }
dialog .top { display: flex; gap: 1rem; align-items: start; }
dialog .top h2 { flex: 1; overflow-wrap: anywhere; }
dialog .inside { padding: 1.2rem 1.4rem 1.4rem; display: grid; gap: 1.1rem; }

@media (max-width: 52rem) {
  html, body { height: auto; }
  body { grid-template-columns: minmax(0, 1fr); grid-template-rows: auto 1fr; min-height: 100dvh; }
  .side { position: static; height: auto; max-height: 40dvh; border-right: 0; border-bottom: 1px solid var(--line); }
  dl, dl dl { grid-template-columns: minmax(0, 1fr); gap: .1rem; }
  dd { padding-bottom: .5rem; }
}
@media (prefers-reduced-motion: no-preference) {
  button, .link, input, select, textarea { transition: border-color .12s, background-color .12s; }
}
`;
