/**
 * Makes V8 allocate new objects in the young generation. By default, V8 observes the first objects that each place in
 * the code allocates. If most of them survive a collection, as those of a burst of requests do, V8 allocates all later
 * objects of that place in the old generation. In a program whose objects die with their requests, these later objects
 * become garbage, and everything to which they refer stays alive until a full collection.
 */
import { setFlagsFromString } from 'node:v8';

/** Sets this behaviour for the process and its threads; must be called before the program begins its work. */
export const putNewObjectsAmongYoung = (): void =>
  setFlagsFromString('--no-allocation-site-pretenuring');
