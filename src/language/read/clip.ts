/** Long texts cut short, for messages that quote them. */
import { cut } from '#domain/cut.ts';

export const clip = (text: string, most: number): string =>
  text.length > most ? `${cut(text, most)}…` : text;
