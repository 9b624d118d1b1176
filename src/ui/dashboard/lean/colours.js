/** The schemes of colours that charts have by default, in place of the forty that Plot knows, a twentieth of a page. */
import { interpolateRgbBasis } from 'd3-interpolate';

/** For categories. */
export const schemeObservable10 = [
  ...['#4269d0', '#efb118', '#ff725c', '#6cc5b0', '#3ca951'],
  ...['#ff8ab7', '#a463f2', '#97bbf5', '#9c6b4e', '#9498a0'],
];

/** From little to much. */
export const interpolateTurbo = interpolateRgbBasis([
  ...['#30123b', '#4662d7', '#36aaf9', '#1ae4b6', '#72fe5e'],
  ...['#c7ef34', '#faba39', '#f66b19', '#cb2a04', '#7a0403'],
]);
export const interpolateBlues = interpolateRgbBasis(['#e8effd', '#8fb2ff', '#2155c8', '#12317a']);

/** From one side of a middle to the other, and around. */
export const interpolateRdBu = interpolateRgbBasis(['#b3261e', '#f7f7f7', '#2155c8']);
export const interpolateRainbow = interpolateRgbBasis([
  ...['#6e40aa', '#ff5e63', '#aff05b', '#1ddfa3', '#4c6edb', '#6e40aa'],
]);
