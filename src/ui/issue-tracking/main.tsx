/** The page of the template `issue-tracking`: boards, issues and versions, over nothing but the world's own API. */
import { startPage } from '../pieces/start.tsx';
import { createAppRouter } from './router.tsx';

startPage(createAppRouter());
