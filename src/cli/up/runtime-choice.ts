/** Which runtime world hosts get on this machine: what was asked for, else Docker where it answers. */
import { AppError } from '#domain/error.ts';
import type { EngineAnswer } from './docker-engine.ts';

export const runtimeWishes = ['auto', 'docker', 'process'] as const;
export type RuntimeWish = (typeof runtimeWishes)[number];

export type RuntimeChoice = {
  runtime: 'docker' | 'process';
  /** For the user: why this one. */
  why: string;
};

/**
 * Decides. `engine` is only looked at when the wish is not `process`.
 * Throws `unavailable` when Docker is wished for and does not answer.
 */
export const chooseRuntime = (wish: RuntimeWish, engine: EngineAnswer): RuntimeChoice => {
  if (wish === 'process') return { runtime: 'process', why: 'asked for with --runtime' };
  if (engine.answers) {
    const why = wish === 'docker' ? 'asked for with --runtime' : 'an engine answers';
    return { runtime: 'docker', why: `${why}, version ${engine.version}` };
  }
  if (wish === 'auto') return { runtime: 'process', why: `no Docker engine (${engine.why})` };
  throw new AppError('unavailable', `no Docker engine answers (${engine.why})`, {
    detail: { hint: 'start it, name it with DOCKER_HOST, or use --runtime process' },
  });
};

/** What becomes of a choice whose runtime could not be made ready. Throws the reason when wished for. */
export const fallBack = (wish: RuntimeWish, reason: AppError): RuntimeChoice => {
  if (wish !== 'auto') throw reason;
  return { runtime: 'process', why: `Docker answers but cannot be used: ${reason.message}` };
};
