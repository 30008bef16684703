/**
 * `fleetbed completion`: prints the script by which a shell completes commands, options and values.
 * The scripts call `fleetbed complete`, which reads the same options as every command. The script
 * for bash is our own: it needs no other package, and completes files.
 */
import { script } from '@bomb.sh/tab';
import { Argument, type Command, type Option } from 'commander';
import { addExamples } from '../options/examples.ts';
import { kindOf } from '../options/option-rows.ts';
import { loadOptions } from '../options/subcommands.ts';

const shells = ['bash', 'zsh', 'fish', 'powershell'] as const;

const help = `
bash, for all new shells:
  echo 'source <(fleetbed completion bash)' >> ~/.bashrc
zsh, for all new shells, with a folder of $fpath:
  fleetbed completion zsh > "\${fpath[1]}/_fleetbed"
fish, for all new shells:
  fleetbed completion fish > ~/.config/fish/completions/fleetbed.fish
PowerShell, in the profile:
  fleetbed completion powershell | Out-String | Invoke-Expression
`;

/** Adds the argument and the action of `fleetbed completion`. */
export function configure(command: Command): void {
  command
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .addHelpText('after', help)
    .action((shell: (typeof shells)[number]) => {
      if (shell === 'bash') process.stdout.write(bashScript);
      else script(shell, 'fleetbed', 'fleetbed');
    });
  addExamples(command, 'fleetbed completion bash');
}

const bashScript = `# bash completion for fleetbed
_fleetbed() {
  local line directive=0
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :*) directive=\${line#:} ;;
      *) COMPREPLY+=("\${line%%$'\\t'*}") ;;
    esac
  done < <(fleetbed complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null)
  (( directive & 2 )) && compopt -o nospace 2> /dev/null
  (( directive & 4 )) && compopt +o default 2> /dev/null
  return 0
}
complete -o default -F _fleetbed fleetbed
`;

/** Adds the argument and the action of `fleetbed complete`, which the scripts call. */
export function configureComplete(command: Command): void {
  command
    .argument('[argument...]', 'the arguments of the command line, up to the one that is completed')
    .action(async (args: readonly string[]) => {
      const program = command.parent ?? command;
      const { candidates, directive } = await completionOf(program, args);
      const lines = candidates.map(({ value, meaning }) => `${value}\t${meaning}`);
      process.stdout.write([...lines, `:${directive}`, ''].join('\n'));
    });
}

/** Directives to the scripts besides the candidates: bits that they add up. */
const directives = { offerFiles: 0, addNoSpace: 2, offerNoFiles: 4 } as const;

interface Candidate {
  readonly value: string;
  readonly meaning: string;
}

interface Completion {
  readonly candidates: readonly Candidate[];
  readonly directive: number;
}

/** Returns the completions of the last argument. */
async function completionOf(program: Command, args: readonly string[]): Promise<Completion> {
  // bash splits a word at each =.
  const words = args.filter((word, at) => word !== '=' || at === args.length - 1);
  const precedingArgs = words.slice(0, -1);
  const last = words.at(-1)?.replace(/^=$/, '') ?? '';
  const command = await commandIn(program, precedingArgs);
  if (precedingArgs.includes('--')) return { candidates: [], directive: directives.offerFiles };
  const precedingOption = optionIn(command, precedingArgs.at(-1) ?? '');
  if (precedingOption?.required) return startingWith(last, valuesOf(precedingOption));
  const [flag = '', value] = last.startsWith('--') ? last.split('=', 2) : [];
  const joinedOption = value === undefined ? undefined : optionIn(command, flag);
  if (joinedOption !== undefined) return startingWith(value ?? '', valuesOf(joinedOption));
  return startingWith(last, last.startsWith('-') ? optionsOf(command) : operandsOf(command));
}

function startingWith(text: string, { candidates, directive }: Completion): Completion {
  return { candidates: candidates.filter(({ value }) => value.startsWith(text)), directive };
}

/** Returns the command or subcommand that the arguments name, with its options loaded. */
async function commandIn(program: Command, args: readonly string[]): Promise<Command> {
  let command = program;
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? '';
    if (word.startsWith('-')) {
      if (optionIn(command, word)?.required) at++;
      continue;
    }
    const subcommand = command.commands.find((each) => each.name() === word);
    if (subcommand === undefined) break;
    command = subcommand;
    await loadOptions(command);
  }
  return command;
}

function optionIn(command: Command, flag: string): Option | undefined {
  return command.options.find(
    ({ long, short }) => flag !== '' && (long === flag || short === flag),
  );
}

function optionsOf(command: Command): Completion {
  const visibleOptions = command.createHelp().visibleOptions(command);
  const candidates = visibleOptions.flatMap(({ long, description }) =>
    long ? [{ value: long, meaning: firstLine(description) }] : [],
  );
  return { candidates, directive: directives.offerNoFiles };
}

function operandsOf(command: Command): Completion {
  const subcommands = command.createHelp().visibleCommands(command);
  const choices = command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices);
  const candidates = [
    ...subcommands.map((each) => ({ value: each.name(), meaning: each.description() })),
    ...choices.map((value) => ({ value, meaning: '' })),
  ];
  const takesFile = command.registeredArguments.length > 0 && choices.length === 0;
  return { candidates, directive: takesFile ? directives.offerFiles : directives.offerNoFiles };
}

function valuesOf(option: Option): Completion {
  const cli = kindOf(option);
  if (cli?.kind === 'report-files') {
    const candidates = cli.formats.map((format) => ({ value: `${format}=`, meaning: '' }));
    return { candidates, directive: directives.offerNoFiles + directives.addNoSpace };
  }
  const names = option.argChoices ?? (cli?.kind === 'names' ? cli.values : []);
  const isFile = /[<[](?:file|folder|path)/.test(option.flags);
  return {
    candidates: names.map((value) => ({ value, meaning: '' })),
    directive: isFile ? directives.offerFiles : directives.offerNoFiles,
  };
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}
