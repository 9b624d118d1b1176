/** `svc completion`: prints a script with which a shell completes commands, options and their values. */
import { Argument, type Command } from 'commander';
import { completionScript, type Shell, shells } from '../completion/scripts.ts';
import { readTree } from '../completion/tree.ts';
import type { Context } from '../terminal/context.ts';
import { addCommand } from './command.ts';

export const addCompletion = (program: Command, context: Context): void => {
  addCommand(program, {
    usage: 'completion',
    summary: 'print a script that completes commands and options in a shell',
    example: [
      'source <(svc completion bash)',
      'source <(svc completion zsh)',
      'svc completion fish > ~/.config/fish/completions/svc.fish',
    ].join('\n'),
  })
    .addArgument(new Argument('<shell>', 'which').choices([...shells]))
    .action((shell: Shell) => context.out.writeExactly(completionScript(shell, readTree(program))));
};
