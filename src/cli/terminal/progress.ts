/**
 * Shows the progress of work that may take long. It shows nothing for the first two seconds. Then a terminal gets one
 * line, which is rewritten and finally erased. Other outputs get a plain line whenever the step changes, and every ten
 * seconds.
 */
import { makeVisible } from '#domain/visible-text.ts';
import type { Output } from './context.ts';
import { cut, formatDuration } from './print.ts';

/** Sets the text of the current step. */
export type ShowStep = (step: string) => void;

export type Progress = {
  showStep: ShowStep;
  /** Writes a text that stays, without mixing it with the progress line. */
  print(text: string): void;
};

type ProgressOptions = {
  out: Output;
  /** Text that is put before each line. */
  indent?: string;
  /** Text of the first step. */
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

/** Returns the text of a step without its numbers and progress bar. */
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

/** Progress that is currently shown, by output. */
const shownOn = new WeakMap<Output, Progress>();

/**
 * Runs the work and shows its progress. Returns the work's result, or throws its error. If outer work already shows
 * progress on the same output, the inner work shows no steps of its own.
 */
export const withProgress = async <Value>(
  { out, indent = '', step: firstStep }: ProgressOptions,
  work: (progress: Progress) => Promise<Value>,
): Promise<Value> => {
  const outer = shownOn.get(out);
  if (outer !== undefined) return work({ showStep: () => undefined, print: outer.print });
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
  const showStep: ShowStep = (next) => {
    step = next;
    show();
  };
  const print = (text: string): void => {
    wipe();
    out.write(text);
  };
  shownOn.set(out, { showStep, print });
  try {
    return await work({ showStep, print });
  } finally {
    shownOn.delete(out);
    clearInterval(timer);
    wipe();
  }
};
