/** Sets the title of the page, which the browser shows in its tab. */
import { titleOf } from '../../pieces/title.ts';

export const useTitle = titleOf('Issue tracker');
