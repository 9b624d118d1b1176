/**
 * Makes V8 allocate new objects in the young generation. By itself V8 learns from the first objects of each place in
 * the code. If most of them outlive a collection, as those of a burst of requests do, it allocates all later ones in
 * the old generation. In a program whose objects die with their requests, these become garbage that keeps everything
 * it refers to alive until a full collection.
 */
import { setFlagsFromString } from 'node:v8';

/** Sets this for the process and its threads; must be called before the program begins its work. */
export const putNewObjectsAmongYoung = (): void =>
  setFlagsFromString('--no-allocation-site-pretenuring');
