/** Sends a person's input on the picture of the browser: mouse, keys, clipboard, and window size. */
import type { ViewInput } from '#wire/live-view/messages.ts';

type Send = (input: ViewInput) => void;

/** Element that receives the focus, and the canvas within it. */
export type Surface = { surface: HTMLElement; canvas: HTMLCanvasElement };

const modifiersOf = (event: MouseEvent | KeyboardEvent): number =>
  (event.altKey ? 1 : 0) +
  (event.ctrlKey ? 2 : 0) +
  (event.metaKey ? 4 : 0) +
  (event.shiftKey ? 8 : 0);

const buttonNames = ['left', 'middle', 'right', 'back', 'forward'] as const;

/** Height of a line in pixels, for wheels that report lines. */
const lineHeight = 20;

type Listening = { send: Send; signal: AbortSignal };

const listenToMouse = (
  { surface, canvas }: Surface,
  { send, signal, widthOf }: Listening & { widthOf(): number },
): void => {
  const place = ({ offsetX, offsetY }: MouseEvent) => {
    const scale = widthOf() / Math.max(1, canvas.clientWidth);
    return { x: Math.round(offsetX * scale), y: Math.round(offsetY * scale) };
  };
  let lastMove: PointerEvent | undefined;
  const sendMove = (): void => {
    if (lastMove === undefined) return;
    const event = lastMove;
    lastMove = undefined;
    const { buttons } = event;
    const button = buttonNames[[1, 4, 2].findIndex((bit) => buttons & bit)] ?? 'none';
    const shared = { ...place(event), buttons, modifiers: modifiersOf(event) };
    send({ type: 'mouse', event: 'move', button, clicks: 0, ...shared });
  };
  canvas.addEventListener(
    'pointermove',
    (event) => {
      // One move for each animation frame is enough.
      if (lastMove === undefined) requestAnimationFrame(sendMove);
      lastMove = event;
    },
    { signal },
  );
  const press = (kind: 'down' | 'up') => (event: PointerEvent) => {
    event.preventDefault();
    sendMove();
    if (kind === 'down') {
      surface.focus();
      canvas.setPointerCapture(event.pointerId);
    }
    const { buttons, button } = event;
    const shared = { ...place(event), buttons, modifiers: modifiersOf(event) };
    const clicks = Math.min(3, clicksOf(event));
    send({
      type: 'mouse',
      event: kind,
      button: buttonNames[button] ?? 'none',
      clicks,
      ...shared,
    });
  };
  let last = { at: 0, x: 0, y: 0, clicks: 0 };
  /** Counts clicks. Pointer events do not count them, so presses that are close in place and time are counted here. */
  const clicksOf = ({ type, timeStamp, offsetX: x, offsetY: y }: PointerEvent): number => {
    if (type === 'pointerdown') {
      const isAgain = timeStamp - last.at < 500 && Math.hypot(x - last.x, y - last.y) < 5;
      last = { at: timeStamp, x, y, clicks: isAgain ? (last.clicks % 3) + 1 : 1 };
    }
    return last.clicks;
  };
  canvas.addEventListener('pointerdown', press('down'), { signal });
  canvas.addEventListener('pointerup', press('up'), { signal });
  canvas.addEventListener('contextmenu', (event) => event.preventDefault(), { signal });
  canvas.addEventListener(
    'wheel',
    (event) => {
      event.preventDefault();
      const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? lineHeight : 1;
      const { deltaX, deltaY } = event;
      const moved = { dx: deltaX * unit, dy: deltaY * unit, modifiers: modifiersOf(event) };
      send({ type: 'wheel', ...place(event), ...moved });
    },
    { passive: false, signal },
  );
};

const isShortcut = (event: KeyboardEvent, letter: string): boolean =>
  (event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === letter;

const listenToKeys = ({ surface }: Surface, { send, signal }: Listening): void => {
  const press = (kind: 'down' | 'up') => (event: KeyboardEvent) => {
    // Pasting is an event of its own, with the text. Escape and then Tab leaves the canvas.
    if (event.isComposing || isShortcut(event, 'v')) return;
    if (event.key === 'Tab' && hasLeft) return;
    hasLeft = event.key === 'Escape';
    event.preventDefault();
    if (kind === 'down' && (isShortcut(event, 'c') || isShortcut(event, 'x'))) {
      send({ type: 'copy', isCut: isShortcut(event, 'x') });
      return;
    }
    const { key, code, keyCode, location, repeat } = event;
    const modifiers = modifiersOf(event);
    send({ type: 'key', event: kind, key, code, keyCode, location, isRepeat: repeat, modifiers });
  };
  let hasLeft = false;
  surface.addEventListener('keydown', press('down'), { signal });
  surface.addEventListener('keyup', press('up'), { signal });
  document.addEventListener(
    'paste',
    (event) => {
      if (document.activeElement !== surface) return;
      const text = event.clipboardData?.getData('text/plain') ?? '';
      if (text !== '') send({ type: 'text', text: text.slice(0, 262_144) });
    },
    { signal },
  );
};

/** Sends the size that is available for the picture, once it has stopped changing. */
const listenToSize = (room: HTMLElement, { send, signal }: Listening): void => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const observer = new ResizeObserver(() => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      // Rounded down, so that pictures fit exactly and are not scaled.
      const box = room.getBoundingClientRect();
      const width = Math.min(3_840, Math.max(240, Math.floor(box.width)));
      const height = Math.min(2_160, Math.max(160, Math.floor(box.height)));
      send({ type: 'resize', width, height });
    }, 150);
  });
  observer.observe(room);
  signal.addEventListener('abort', () => {
    clearTimeout(timer);
    observer.disconnect();
  });
};

/** Sends all input until the returned function is called. */
export const listen = (on: Surface, send: Send, widthOf: () => number): (() => void) => {
  const ending = new AbortController();
  const { signal } = ending;
  listenToMouse(on, { send, widthOf, signal });
  listenToKeys(on, { send, signal });
  listenToSize(on.surface, { send, signal });
  return () => ending.abort();
};
