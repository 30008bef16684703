import { describe, expect, it } from 'vitest';
import { runCommand } from '../testing/built-command.ts';

describe('a wrong command line', () => {
  it.each<[string, RegExp]>([
    ['fly', /unknown command 'fly'/],
    ['serve --nonsense', /unknown option '--nonsense'/],
    ['serve something', /too many arguments/],
    ['serve --port 70000', /'--port <port>' argument '70000' .*from 0 .* to 65535/],
    ['serve --token-lifetime 1w', /'--token-lifetime <duration>' argument '1w' .*ms, s, m, h or d/],
    ['serve --log-level loud', /'--log-level <level>' argument 'loud' .*silent, error, warn/],
    ['serve --header-prefix X-', /'--header-prefix <prefix>' argument 'X-' .*X-SVC/],
    ['serve --admin-password short', /'--admin-password <password>' .* is invalid\. .*8 char/],
    ['simulate --devices 0', /'--devices <count>' argument '0' .*from 1 to 100000/],
    ['simulate --keys dsa=1', /'--keys <shares>' argument 'dsa=1' .*rsa, ecdsa, ed25519/],
    ['simulate --behaviour lazy=', /argument 'lazy=' .*name=weight/],
    ['simulate --behaviour lazy', /--behaviour must be one of steady, slow/],
    ['simulate --url ftp://h', /argument 'ftp:\/\/h' .*http:\/\/ or https:\/\//],
    ['simulate --deploy release-2', /'--deploy <artifact>' needs --accept, with --password/],
    ['simulate --accept', /'--accept' needs --password .* or --token/],
    ['simulate --password secret', /'--password <password>' needs --accept/],
    ['conform --token a --password b', /'--token <jwt>' cannot be used with .*'--password/],
    ['conform nosuch/', /no case has an ID that starts with "nosuch\/"/],
    [
      'conform --report xml=f',
      /argument 'xml=f' .*json=FILE, junit=FILE, html=FILE, markdown=FILE and annotations=FILE/,
    ],
    ['demo --devices 5', /unknown option '--devices'/],
  ])('ends `fleetbed %s` with exit code 2 and one line', async (args, sentence) => {
    const { code, stdout, stderr } = await runCommand(args.split(' '));
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(sentence);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });

  it('is also detected in the environment', async () => {
    const { code, stderr } = await runCommand(['serve'], { FLEETBED_ADMIN_PASSWORD: 'short' });
    expect(code).toBe(2);
    expect(stderr).toContain('(env: FLEETBED_ADMIN_PASSWORD) is invalid');
  });

  it('causes a list of the commands, with exit code 2, when it has no command', async () => {
    const { code, stderr } = await runCommand([]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/serve[\s\S]*simulate[\s\S]*conform[\s\S]*demo/);
  });

  it('hides the password of a URL that is refused', async () => {
    const args = ['devices', '--url', 'http://ada:secret-1@h'];
    for (const { code, stderr } of [
      await runCommand(args),
      await runCommand(['devices'], { FLEETBED_URL: 'http://ada:secret-1@h' }),
    ]) {
      expect([code, stderr]).toEqual([2, expect.stringContaining("'http://(not shown)@h'")]);
      expect(stderr).not.toContain('secret-1');
    }
  });

  it('cannot send control characters to the terminal', async () => {
    const { stderr } = await runCommand(['serve', '--port', '\x1b[31m']);
    expect(stderr).toContain('\\u{1b}[31m');
  });
});

describe('help and version', () => {
  it.each([
    '--help',
    'help',
    'help serve',
    'help help',
    'serve --help',
    'simulate --help',
    'conform --help',
    'demo --help',
    '--version',
  ])('are printed by `fleetbed %s` to standard output with exit code 0', async (args) => {
    const { code, stdout, stderr } = await runCommand(args.split(' '));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).not.toBe('');
  });

  it.each(['help srve', 'srve --help', 'srve -h', 'srve'])(
    'suggest the nearest command in the error of `fleetbed %s`',
    async (args) => {
      const { code, stdout, stderr } = await runCommand(args.split(' '));
      const error = "fleetbed: unknown command 'srve'\n(Did you mean serve?)\n";
      expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: error });
    },
  );

  it('concern the subcommand that `fleetbed help conform judge` names', async () => {
    const { code, stdout } = await runCommand(['help', 'conform', 'judge']);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^Usage: fleetbed conform judge /)]);
  });

  it('contain every option of serve with its default', async () => {
    const { stdout } = await runCommand(['serve', '--help']);
    for (const [option, defaultText] of [
      ['--host', '"127.0.0.1"'],
      ['--control-host', '"127.0.0.1"'],
      ['--port', '8080'],
      ['--control-port', '8081'],
      ['--admin-email', '"admin@example.com"'],
      ['--admin-password', 'FLEETBED_ADMIN_PASSWORD'],
      ['--auto-accept', ''],
      ['--header-prefix', '"X-SVC"'],
      ['--token-lifetime', '7d'],
      ['--link-lifetime', '1d'],
      ['--log-level', '"info"'],
      ['--ready-file', ''],
    ] as const) {
      expect(stdout).toContain(option);
      expect(stdout).toContain(defaultText);
    }
  });
});

describe('an internal error', () => {
  const planted = {
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(
      'URL.canParse = () => { throw new TypeError("planted"); };',
    )}`,
  };

  it('is reported in one line with exit code 70', async () => {
    const { code, stderr } = await runCommand(['conform', '--url', 'http://h'], planted);
    expect(code).toBe(70);
    expect(stderr).toBe('fleetbed: internal error: planted\n');
  });

  it('is reported with its stack if FLEETBED_DEBUG is set', async () => {
    const environment = { ...planted, FLEETBED_DEBUG: '1' };
    const { stderr } = await runCommand(['conform', '--url', 'http://h'], environment);
    expect(stderr).toMatch(/planted\n[\s\S]*\n\s+at /);
  });
});
