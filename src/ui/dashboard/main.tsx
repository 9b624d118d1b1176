/**
 * Base of the pages of dashboards: the modules that a page may import, and its start. The page's own script arrives as
 * text together with its data, and finds the modules in a global variable.
 */
import * as react from 'react';
import * as jsx from 'react/jsx-runtime';
import { createRoot } from 'react-dom/client';
import { watchFaults } from './fault.ts';
import { given } from './given.ts';
import * as pieces from './pieces.tsx';
import * as plot from './plot.ts';

Object.assign(globalThis, { svcDashboard: { react, jsx, client: { createRoot }, plot, pieces } });
watchFaults();
// No content security policy blocks WebRTC, so the constructor is removed.
Reflect.deleteProperty(globalThis, 'RTCPeerConnection');

const script = document.createElement('script');
script.textContent = given.script;
document.body.append(script);
