/** Page of the template `device-management`: devices, groups and policies, using only the world's own API. */
import { startPage } from '../pieces/start.tsx';
import { createAppRouter } from './router.tsx';

startPage(createAppRouter());
