/** The canvas: pictures as they come, and what the person does on it with mouse, keys and clipboard. */
import type { ViewInput } from '../messages.ts';

export type Screen = {
  draw(size: { width: number; height: number }, picture: Blob): Promise<void>;
};

type Send = (input: ViewInput) => void;

/** What has the focus, and the pictures in it. */
export type Surface = { surface: HTMLElement; canvas: HTMLCanvasElement };

const modifiersOf = (event: MouseEvent | KeyboardEvent): number =>
  (event.altKey ? 1 : 0) +
  (event.ctrlKey ? 2 : 0) +
  (event.metaKey ? 4 : 0) +
  (event.shiftKey ? 8 : 0);

const buttonNames = ['left', 'middle', 'right', 'back', 'forward'] as const;

/** One line of a wheel that counts in lines. */
const lineHeight = 20;

const listenToMouse = (
  { surface, canvas }: Surface,
  send: Send,
  sizeOf: () => { width: number },
): void => {
  const place = ({ offsetX, offsetY }: MouseEvent) => {
    const scale = sizeOf().width / Math.max(1, canvas.clientWidth);
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
  canvas.addEventListener('pointermove', (event) => {
    // One move a picture is enough.
    if (lastMove === undefined) requestAnimationFrame(sendMove);
    lastMove = event;
  });
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
  /** Pointer events do not count clicks, so presses near one another in place and time are counted here. */
  const clicksOf = ({ type, timeStamp, offsetX: x, offsetY: y }: PointerEvent): number => {
    if (type === 'pointerdown') {
      const isAgain = timeStamp - last.at < 500 && Math.hypot(x - last.x, y - last.y) < 5;
      last = { at: timeStamp, x, y, clicks: isAgain ? (last.clicks % 3) + 1 : 1 };
    }
    return last.clicks;
  };
  canvas.addEventListener('pointerdown', press('down'));
  canvas.addEventListener('pointerup', press('up'));
  canvas.addEventListener('contextmenu', (event) => event.preventDefault());
  canvas.addEventListener(
    'wheel',
    (event) => {
      event.preventDefault();
      const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? lineHeight : 1;
      const { deltaX, deltaY } = event;
      const moved = { dx: deltaX * unit, dy: deltaY * unit, modifiers: modifiersOf(event) };
      send({ type: 'wheel', ...place(event), ...moved });
    },
    { passive: false },
  );
};

const isShortcut = (event: KeyboardEvent, letter: string): boolean =>
  (event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === letter;

const listenToKeys = ({ surface }: Surface, send: Send): void => {
  const press = (kind: 'down' | 'up') => (event: KeyboardEvent) => {
    // Pasting comes as an event of its own, with the text; Tab with Escape before it leads out of the canvas.
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
  surface.addEventListener('keydown', press('down'));
  surface.addEventListener('keyup', press('up'));
  document.addEventListener('paste', (event) => {
    if (document.activeElement !== surface) return;
    const text = event.clipboardData?.getData('text/plain') ?? '';
    if (text !== '') send({ type: 'text', text: text.slice(0, 262_144) });
  });
};

/** Sends the size of the room there is, once it stays. */
const listenToSize = (room: HTMLElement, send: Send): void => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  new ResizeObserver(() => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      // Rounded down, so that pictures fit as they are and are not scaled by a hair.
      const box = room.getBoundingClientRect();
      const width = Math.min(3_840, Math.max(240, Math.floor(box.width)));
      const height = Math.min(2_160, Math.max(160, Math.floor(box.height)));
      send({ type: 'resize', width, height });
    }, 150);
  }).observe(room);
};

/** Makes the screen. Where the view is read-only, nobody calls `listen`. */
export const createScreen = (
  on: Surface,
  onPicture: () => void,
): Screen & { listen(send: Send): void } => {
  const { surface, canvas } = on;
  const context = canvas.getContext('2d', { alpha: false, desynchronized: true });
  let shown = { width: 1, height: 1 };
  return {
    async draw(size, picture) {
      const bitmap = await createImageBitmap(picture);
      if (canvas.width !== bitmap.width || canvas.height !== bitmap.height) {
        canvas.width = bitmap.width;
        canvas.height = bitmap.height;
      }
      shown = size;
      context?.drawImage(bitmap, 0, 0);
      bitmap.close();
      onPicture();
    },
    listen(send) {
      surface.tabIndex = 0;
      listenToMouse(on, send, () => shown);
      listenToKeys(on, send);
      listenToSize(surface, send);
    },
  };
};
