#!/usr/bin/env node
import { start } from './start.mjs';

await start('svc', '../src/cli/main.ts');
