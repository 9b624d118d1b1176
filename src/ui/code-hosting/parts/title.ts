/** Title of the page in the browser. */
import { titleOf } from '../../pieces/title.ts';

export const useTitle = titleOf('Code host');
