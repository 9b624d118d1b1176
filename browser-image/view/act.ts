/** Performs a viewer's actions in a tab: mouse, keys, text, navigation. */

import type { KeyInput, MouseInput, ViewInput } from '#wire/live-view/messages.ts';
import type { Params } from '../cdp/message.ts';
import type { Stage } from './tab-pictures.ts';

const mouseTypes = { move: 'mouseMoved', down: 'mousePressed', up: 'mouseReleased' } as const;

const moveMouse = (input: MouseInput): Params => ({
  type: mouseTypes[input.event],
  x: input.x,
  y: input.y,
  button: input.button,
  buttons: input.buttons,
  clickCount: input.clicks,
  modifiers: input.modifiers,
});

const control = 2;
const meta = 4;

/** Returns the text that a key types: empty for keys with names, or while Control or Meta is held. */
const typed = ({ key, modifiers }: KeyInput): string => {
  if (key === 'Enter') return '\r';
  return [...key].length === 1 && (modifiers & (control | meta)) === 0 ? key : '';
};

const pressKey = (input: KeyInput): Params => {
  const text = input.event === 'down' ? typed(input) : '';
  const type = input.event === 'up' ? 'keyUp' : text === '' ? 'rawKeyDown' : 'keyDown';
  return {
    type,
    key: input.key,
    code: input.code,
    windowsVirtualKeyCode: input.keyCode,
    location: input.location === 3 ? 0 : input.location,
    isKeypad: input.location === 3,
    autoRepeat: input.isRepeat,
    modifiers: input.modifiers,
    ...(text === '' ? {} : { text, unmodifiedText: text }),
  };
};

const travel = async ({ driver, sessionId }: Stage, step: number): Promise<void> => {
  const history = await driver.send('Page.getNavigationHistory', {}, sessionId);
  const entries = history.entries as { id: number }[];
  const entry = entries[Number(history.currentIndex) + step];
  if (entry === undefined) return;
  await driver.send('Page.navigateToHistoryEntry', { entryId: entry.id }, sessionId);
};

const go = async (stage: Stage, to: string): Promise<void> => {
  const { driver, sessionId } = stage;
  if (to === 'back') await travel(stage, -1);
  else if (to === 'forward') await travel(stage, 1);
  else if (to === 'reload') await driver.send('Page.reload', {}, sessionId);
  else await driver.send('Page.navigate', { url: to }, sessionId);
};

const resize = async (
  { driver, targetId }: Stage,
  size: { width: number; height: number },
): Promise<void> => {
  const { windowId } = await driver.send('Browser.getWindowForTarget', { targetId });
  const { width, height } = size;
  await driver.send('Browser.setContentsSize', { windowId, width, height });
};

const selected = `(() => {
  const at = document.activeElement;
  const isField = at !== null && typeof at.selectionStart === 'number';
  return isField ? at.value.slice(at.selectionStart, at.selectionEnd) : String(getSelection());
})()`;

/** Returns the page's selection, and deletes it from the page if it was cut. */
export const copySelection = async (stage: Stage, isCut: boolean): Promise<string> => {
  const { driver, sessionId } = stage;
  const asked = { expression: selected, returnByValue: true };
  const { result } = await driver.send('Runtime.evaluate', asked, sessionId);
  const text = String((result as Params).value ?? '');
  if (isCut && text !== '') {
    const key = { key: 'Delete', code: 'Delete', windowsVirtualKeyCode: 46 };
    for (const type of ['rawKeyDown', 'keyUp']) {
      await driver.send('Input.dispatchKeyEvent', { type, ...key }, sessionId);
    }
  }
  return text;
};

type Act = Exclude<ViewInput, { type: 'copy' | 'show' | 'close' | 'open' }>;

/** Performs the action in the tab. Throws `CommandFailed` if the browser refuses it. */
export const act = async (stage: Stage, input: Act): Promise<void> => {
  const { driver, sessionId } = stage;
  switch (input.type) {
    case 'mouse':
      return void (await driver.send('Input.dispatchMouseEvent', moveMouse(input), sessionId));
    case 'wheel': {
      const { x, y, dx, dy, modifiers } = input;
      const params = { type: 'mouseWheel', x, y, deltaX: dx, deltaY: dy, modifiers };
      return void (await driver.send('Input.dispatchMouseEvent', params, sessionId));
    }
    case 'key':
      return void (await driver.send('Input.dispatchKeyEvent', pressKey(input), sessionId));
    case 'text':
      return void (await driver.send('Input.insertText', { text: input.text }, sessionId));
    case 'resize':
      return resize(stage, input);
    case 'go':
      return go(stage, input.to);
    case 'dialog': {
      const { isAccepted: accept, text } = input;
      const params = { accept, ...(text === undefined ? {} : { promptText: text }) };
      return void (await driver.send('Page.handleJavaScriptDialog', params, sessionId));
    }
  }
};
