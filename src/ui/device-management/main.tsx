/** The page of the template `device-management`: devices, groups and policies, over nothing but the world's own API. */
import { startPage } from '../pieces/start.tsx';
import { createAppRouter } from './router.tsx';

startPage(createAppRouter());
