/** The live view page: shows what the browser shows, and passes on what the person does. */
import type { ViewNews, ViewTab } from '../messages.ts';
import { connect } from './connection.ts';
import { element } from './elements.ts';
import { createScreen } from './screen.ts';

const status = element('status', HTMLElement);
const address = element('address', HTMLInputElement);
const tabList = element('tabs', HTMLElement);
const empty = element('empty', HTMLElement);
const dialog = element('dialog', HTMLDialogElement);
const dialogText = element('dialog-text', HTMLElement);
const dialogInput = element('dialog-input', HTMLInputElement);
const dialogDismiss = element('dialog-dismiss', HTMLButtonElement);

const surface = element('surface', HTMLElement);
const canvas = document.querySelector('canvas');
if (canvas === null) throw new Error('index.html has no canvas');
const screen = createScreen({ surface, canvas }, () => {
  empty.hidden = true;
});
let isListening = false;
let isReadOnly = true;
let passing: ReturnType<typeof setTimeout> | undefined;

const say = (text: string): void => {
  clearTimeout(passing);
  status.textContent = text;
};

/** Says something that is no longer true, or no longer of interest, a moment later. */
const sayForAMoment = (text: string): void => {
  say(text);
  passing = setTimeout(() => say(''), 4_000);
};

const connection = connect({
  onNews: (news) => onNews(news),
  onFrame: (size, picture) => void screen.draw(size, picture),
  onStatus: say,
});
const { send } = connection;

const tabElement = ({ id, title, url }: ViewTab, isShown: boolean): HTMLElement => {
  const tab = document.createElement('div');
  tab.className = isShown ? 'tab is-shown' : 'tab';
  tab.role = 'presentation';
  const show = document.createElement('button');
  show.type = 'button';
  show.role = 'tab';
  show.ariaSelected = String(isShown);
  show.textContent = title || url || 'Empty tab';
  show.title = url;
  show.disabled = isReadOnly;
  show.onclick = () => send({ type: 'show', tab: id });
  const close = document.createElement('button');
  close.type = 'button';
  close.ariaLabel = `Close ${title || url}`;
  close.textContent = '×';
  close.hidden = isReadOnly;
  close.onclick = () => send({ type: 'close', tab: id });
  tab.append(show, close);
  return tab;
};

const showTabs = ({ tabs, shown }: Extract<ViewNews, { type: 'tabs' }>): void => {
  tabList.replaceChildren(...tabs.map((tab) => tabElement(tab, tab.id === shown)));
  const current = tabs.find(({ id }) => id === shown);
  if (document.activeElement !== address) address.value = current?.url ?? '';
  document.title = current?.title || 'Browser of the session';
};

const begin = (news: Extract<ViewNews, { type: 'hello' }>): void => {
  isReadOnly = news.isReadOnly;
  element('read-only', HTMLElement).hidden = !isReadOnly;
  address.readOnly = isReadOnly;
  for (const button of document.querySelectorAll<HTMLButtonElement>('#bar button')) {
    button.disabled = isReadOnly;
  }
  if (isReadOnly || isListening) return;
  isListening = true;
  screen.listen(send);
};

const takeClipboard = async (text: string): Promise<void> => {
  try {
    await navigator.clipboard.writeText(text);
    sayForAMoment(text === '' ? 'Nothing is selected.' : 'Copied.');
  } catch {
    say('This page may not write to the clipboard; allow it in your browser.');
  }
};

const ask = ({ kind, message, initial }: Extract<ViewNews, { type: 'dialog' }>): void => {
  dialogText.textContent = message;
  dialogInput.hidden = kind !== 'prompt';
  dialogInput.value = initial;
  dialogDismiss.hidden = kind === 'alert';
  dialog.returnValue = '';
  if (!isReadOnly && !dialog.open) dialog.showModal();
};

const onNews = (news: ViewNews): void => {
  if (news.type === 'hello') begin(news);
  else if (news.type === 'tabs') showTabs(news);
  else if (news.type === 'clipboard') void takeClipboard(news.text);
  else if (news.type === 'dialog') ask(news);
  else if (news.type === 'dialog_gone') dialog.close('gone');
  else sayForAMoment(`Not done: ${news.why}.`);
};

dialog.addEventListener('close', () => {
  if (dialog.returnValue === 'gone') return;
  const isAccepted = dialog.returnValue === 'accept';
  const text = dialogInput.hidden ? {} : { text: dialogInput.value };
  send({ type: 'dialog', isAccepted, ...text });
});

element('bar', HTMLFormElement).addEventListener('submit', (event) => {
  event.preventDefault();
  send({ type: 'go', to: address.value.trim() });
  surface.focus();
});
for (const button of document.querySelectorAll<HTMLButtonElement>('[data-go]')) {
  button.onclick = () => send({ type: 'go', to: button.dataset.go ?? '' });
}
element('open', HTMLButtonElement).onclick = () => send({ type: 'open' });
