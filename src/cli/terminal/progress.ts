/**
 * Progress of work that may take long. Nothing is shown for its first two seconds; then, on a
 * terminal, one line that keeps changing and is wiped at the end, elsewhere a plain line whenever the
 * step changes and every ten seconds.
 */
import { makeVisible } from '#domain/visible-text.ts';
import type { Output } from './context.ts';
import { cut, formatDuration } from './print.ts';

/** Tells what the work is doing now. */
export type Tell = (step: string) => void;

export type Progress = {
  tell: Tell;
  /** Writes a text that stays, without mixing it with the line that changes. */
  print(text: string): void;
};

type ProgressOptions = {
  out: Output;
  /** Put before each line. */
  indent?: string;
  /** What the work does until it tells otherwise. */
  step: string;
};

const quietMs = 2_000;
const terminalEveryMs = 100;
const plainEveryMs = 10_000;
const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

type Line = { show(step: string, elapsedMs: number): void; wipe(): void };

const terminalLine = (out: Output, indent: string): Line => {
  let frame = 0;
  return {
    show(step, elapsedMs) {
      frame = (frame + 1) % frames.length;
      const text = `${indent}${frames[frame]} ${step} … ${formatDuration(elapsedMs)}`;
      out.rewriteLine(cut(makeVisible(text), out.columns - 1));
    },
    wipe: () => out.rewriteLine(''),
  };
};

/** What a step is about, without how far it is. */
const wordsOf = (step: string): string => step.replace(/\[[#-]*\]|[\d.,]+/g, '');

const plainLines = (out: Output, indent: string): Line => {
  let lastWords: string | undefined;
  let lastMs = 0;
  return {
    show(step, elapsedMs) {
      const words = wordsOf(step);
      if (words === lastWords && elapsedMs - lastMs < plainEveryMs) return;
      lastWords = words;
      lastMs = elapsedMs;
      out.write(`${indent}… ${step} (${formatDuration(elapsedMs)})\n`);
    },
    wipe: () => undefined,
  };
};

/** What is shown at the moment, by where. */
const shownOn = new WeakMap<Output, Progress>();

/**
 * Runs the work and shows its progress; the result or error is the work's own. Within other work that
 * is shown on the same output, it is a part of that one and shows no steps of its own.
 */
export const withProgress = async <Value>(
  { out, indent = '', step: firstStep }: ProgressOptions,
  work: (progress: Progress) => Promise<Value>,
): Promise<Value> => {
  const outer = shownOn.get(out);
  if (outer !== undefined) return work({ tell: () => undefined, print: outer.print });
  const startedAt = performance.now();
  const line = out.isTerminal ? terminalLine(out, indent) : plainLines(out, indent);
  let step = firstStep;
  let isShown = false;
  const show = (): void => {
    const elapsedMs = performance.now() - startedAt;
    if (elapsedMs < quietMs) return;
    isShown = true;
    line.show(step, elapsedMs);
  };
  const wipe = (): void => {
    if (isShown) line.wipe();
    isShown = false;
  };
  const timer = setInterval(show, terminalEveryMs);
  const tell: Tell = (next) => {
    step = next;
    show();
  };
  const print = (text: string): void => {
    wipe();
    out.write(text);
  };
  shownOn.set(out, { tell, print });
  try {
    return await work({ tell, print });
  } finally {
    shownOn.delete(out);
    clearInterval(timer);
    wipe();
  }
};
