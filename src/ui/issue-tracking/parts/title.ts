/** What the browser calls the page. */
import { titleOf } from '../../pieces/title.ts';

export const useTitle = titleOf('Issue tracker');
