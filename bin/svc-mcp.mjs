#!/usr/bin/env node
import { start } from './start.mjs';

await start('svc-mcp', '../src/mcp/main.ts');
