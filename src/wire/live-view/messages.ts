/**
 * Messages between the live view page and the browser over their WebSocket. Both send JSON texts; the browser also
 * sends frames to the page, as bytes (see `frameOf`).
 */
import { Ajv, type ValidateFunction } from 'ajv';
import { type Static, Type } from '../type.ts';

const place = { x: Type.Number(), y: Type.Number() };
/** Bits of the pressed modifier keys: Alt 1, Control 2, Meta 4, Shift 8. */
const modifiers = Type.Integer({ minimum: 0, maximum: 15 });
const shortText = Type.String({ maxLength: 40 });

const Mouse = Type.Object({
  type: Type.Literal('mouse'),
  event: Type.Union([Type.Literal('move'), Type.Literal('down'), Type.Literal('up')]),
  ...place,
  button: Type.Union([
    Type.Literal('none'),
    Type.Literal('left'),
    Type.Literal('middle'),
    Type.Literal('right'),
    Type.Literal('back'),
    Type.Literal('forward'),
  ]),
  /** Bits of the pressed buttons, as in `MouseEvent.buttons`. */
  buttons: Type.Integer({ minimum: 0, maximum: 31 }),
  clicks: Type.Integer({ minimum: 0, maximum: 3 }),
  modifiers,
});

const Wheel = Type.Object({
  type: Type.Literal('wheel'),
  ...place,
  dx: Type.Number(),
  dy: Type.Number(),
  modifiers,
});

const Key = Type.Object({
  type: Type.Literal('key'),
  event: Type.Union([Type.Literal('down'), Type.Literal('up')]),
  /** Key, as in `KeyboardEvent`. */
  key: shortText,
  code: shortText,
  keyCode: Type.Integer({ minimum: 0, maximum: 65_535 }),
  location: Type.Integer({ minimum: 0, maximum: 3 }),
  isRepeat: Type.Boolean(),
  modifiers,
});

/** Input from the page to the browser; a read-only view must not send any. */
export const ViewInput = Type.Union([
  Mouse,
  Wheel,
  Key,
  /** Text that was pasted, or composed by an input method. */
  Type.Object({ type: Type.Literal('text'), text: Type.String({ maxLength: 262_144 }) }),
  /** Requests the selected text, which the browser sends as `clipboard`. */
  Type.Object({ type: Type.Literal('copy'), isCut: Type.Boolean() }),
  Type.Object({
    type: Type.Literal('resize'),
    width: Type.Integer({ minimum: 240, maximum: 3_840 }),
    height: Type.Integer({ minimum: 160, maximum: 2_160 }),
  }),
  Type.Object({ type: Type.Literal('show'), tab: Type.String({ maxLength: 64 }) }),
  Type.Object({ type: Type.Literal('close'), tab: Type.String({ maxLength: 64 }) }),
  Type.Object({ type: Type.Literal('open') }),
  Type.Object({ type: Type.Literal('go'), to: Type.String({ maxLength: 8_192 }) }),
  Type.Object({
    type: Type.Literal('dialog'),
    isAccepted: Type.Boolean(),
    text: Type.Optional(Type.String({ maxLength: 65_536 })),
  }),
]);
export type ViewInput = Static<typeof ViewInput>;
export type MouseInput = Static<typeof Mouse>;
export type KeyInput = Static<typeof Key>;

export type ViewTab = { id: string; title: string; url: string };

/** Message from the browser to the page. */
export type ViewMessage =
  | { type: 'hello'; isReadOnly: boolean; origins: string[] }
  | { type: 'tabs'; tabs: ViewTab[]; shown: string | null }
  | { type: 'clipboard'; text: string }
  | { type: 'dialog'; kind: string; message: string; initial: string }
  | { type: 'dialog_gone' }
  | { type: 'refused'; why: string };

let check: ValidateFunction<ViewInput> | undefined;

/** Parses a text from the page; undefined if it is not a valid input. */
export const readViewInput = (text: string): ViewInput | undefined => {
  check ??= new Ajv({ strict: false }).compile<ViewInput>(ViewInput);
  try {
    const value: unknown = JSON.parse(text);
    return check(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

/** Encodes a frame: width and height of the page in CSS pixels, two bytes each, and a JPEG picture. */
export const frameOf = (width: number, height: number, picture: Buffer): Buffer => {
  const head = Buffer.alloc(4);
  head.writeUInt16BE(Math.min(65_535, Math.max(0, Math.round(width))), 0);
  head.writeUInt16BE(Math.min(65_535, Math.max(0, Math.round(height))), 2);
  return Buffer.concat([head, picture]);
};
