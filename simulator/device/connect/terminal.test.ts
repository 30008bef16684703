import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../fixtures/base/clock.ts';
import { noonMs } from '../../testing/client-fixture.ts';
import { facts } from '../../testing/connect-fixture.ts';
import { DeviceFiles } from './files.ts';
import { DeviceShell } from './terminal.ts';

const prompt = 'root@fb-1:~# ';

function terminalOf(contents: Readonly<Record<string, string>> = {}) {
  const clock = new ManualClock(noonMs);
  const files = new DeviceFiles(clock, { '/root/': '', ...contents });
  const terminal = new DeviceShell({ clock, facts, files }, { height: 24, width: 80 });
  return { clock, files, terminal, screen: terminal.begin().toString() };
}

/** Returns the output of a line, without its echo and the next prompt, with Unix line ends. */
function outputOf(terminal: DeviceShell, line: string): string {
  const screen = terminal.type(Buffer.from(`${line}\r`)).toString();
  expect(screen.startsWith(`${line}\r\n`)).toBe(true);
  const end = screen.lastIndexOf('root@');
  expect(screen.slice(0, end)).not.toMatch(/[^\r]\n/);
  return screen.slice(line.length + 2, end).replaceAll('\r\n', '\n');
}

describe('the shell of a device', () => {
  it('starts with a prompt that names the device and the folder', () => {
    const { terminal, screen } = terminalOf({ '/etc/': '' });
    expect(screen).toBe(prompt);
    expect(terminal.type(Buffer.from('cd /etc\r')).toString()).toBe('cd /etc\r\nroot@fb-1:/etc# ');
    expect(terminal.type(Buffer.from('cd\r')).toString()).toBe(`cd\r\n${prompt}`);
  });

  it.each([
    ['pwd', '/root\n'],
    ['hostname', 'fb-1\n'],
    ['whoami', 'root\n'],
    ['uname', 'Linux\n'],
    ['uname -a', 'Linux fb-1 6.6.0-simulated armv7l\n'],
    ['uname -sm', 'Linux armv7l\n'],
    ['date', 'Sat Jan 31 12:00:00 UTC 2026\n'],
    ['echo a   b', 'a b\n'],
    ['echo -n a', 'a'],
    ["echo 'a  b' $HOME", 'a  b /root\n'],
    ['echo -- -n', '-- -n\n'],
    ['ls', 'a.txt\nsub\n'],
    ['ls -a', '.hidden\na.txt\nsub\n'],
    ['ls sub a.txt', 'sub:\nb.txt\na.txt\n'],
    [
      'ls -l',
      '-rw-r--r-- root     root            2 2026-01-31 12:00 a.txt\ndrwxr-xr-x root     root            0 2026-01-31 12:00 sub\n',
    ],
    ['cat a.txt ./sub/b.txt', 'a\nb'],
    ['', ''],
    ['  ', ''],
    ['# nothing', ''],
    ['env', 'COLUMNS=80\nHOME=/root\nLINES=24\nPWD=/root\nSHELL=/bin/sh\nUSER=root\n'],
  ])('answers the line %j with %j', (line, text) => {
    const { terminal } = terminalOf({
      '/root/a.txt': 'a\n',
      '/root/sub/b.txt': 'b',
      '/root/.hidden': '',
    });
    expect(outputOf(terminal, line)).toBe(text);
    expect(outputOf(terminal, 'echo $?')).toBe('0\n');
  });

  it('lists all its commands when asked for help', () => {
    const names = outputOf(terminalOf().terminal, 'help')
      .split('\n')
      .map((usage) => usage.split(' ')[0]);
    expect(names).toEqual([
      ...['cat', 'cd', 'date', 'echo', 'env', 'exit', 'help', 'hostname', 'ls', 'mkdir'],
      ...['pwd', 'rm', 'uname', 'whoami', ''],
    ]);
  });

  it.each([
    ['foo', 'sh: foo: not found\n', 127],
    ['/bin/sh -c ls', 'sh: /bin/sh: not found\n', 127],
    ['constructor', 'sh: constructor: not found\n', 127],
    ['cat none', 'cat: none: No such file or directory\n', 1],
    ['cat sub a.txt', 'a\ncat: sub: Is a directory\n', 1],
    ['cat', 'cat: a file is needed: there is no input to read\n', 1],
    ['cat /etc/shadow', 'cat: /etc/shadow: No such file or directory\n', 1],
    ['ls none', 'ls: none: No such file or directory\n', 1],
    ['ls -x', "ls: invalid option -- 'x'\n", 1],
    ['cd none', 'cd: none: No such file or directory\n', 1],
    ['cd a.txt', 'cd: a.txt: Not a directory\n', 1],
    ['cd a b', 'cd: too many arguments\n', 1],
    ['mkdir', 'mkdir: missing operand\n', 1],
    ['mkdir sub', 'mkdir: sub: File exists\n', 1],
    ['mkdir no/where', 'mkdir: no/where: No such file or directory\n', 1],
    ['mkdir -p a.txt/b', 'mkdir: a.txt/b: Not a directory\n', 1],
    ['rm', 'rm: missing operand\n', 1],
    ['rm sub', 'rm: sub: Is a directory\n', 1],
    ['rm none', 'rm: none: No such file or directory\n', 1],
    ['rm -r /', 'rm: /: Is a directory\n', 1],
    ['rm -r .', 'rm: .: Device or resource busy\n', 1],
    ['ls | cat', 'sh: syntax error: "|" unexpected\n', 2],
    ["echo 'a", 'sh: syntax error: unterminated quoted string\n', 2],
    ['echo a > sub', "sh: can't create sub: Is a directory\n", 2],
    ['echo a > no/where', "sh: can't create no/where: No such file or directory\n", 2],
  ])('answers the line %j with the error %j and status %i', (line, text, status) => {
    const { terminal, files } = terminalOf({ '/root/a.txt': 'a\n', '/root/sub/b.txt': 'b' });
    expect(outputOf(terminal, line)).toBe(text);
    expect(outputOf(terminal, 'echo $?')).toBe(`${status}\n`);
    expect(files.list('/root')).toEqual(['a.txt', 'sub']);
  });

  it('writes files and appends to them', () => {
    const { terminal, files } = terminalOf();
    expect(outputOf(terminal, 'echo one > a')).toBe('');
    expect(outputOf(terminal, 'echo two >> a')).toBe('');
    expect(outputOf(terminal, 'echo three >> b')).toBe('');
    expect(outputOf(terminal, 'cat a b > c')).toBe('');
    expect(files.read('/root/c').toString()).toBe('one\ntwo\nthree\n');
    expect(outputOf(terminal, 'cat none a > d')).toBe('cat: none: No such file or directory\n');
    expect(outputOf(terminal, 'cat d')).toBe('one\ntwo\n');
    expect(outputOf(terminal, '> a')).toBe('');
    expect(files.read('/root/a')).toHaveLength(0);
  });

  it('creates and removes folders', () => {
    const { terminal, files } = terminalOf();
    expect(outputOf(terminal, 'mkdir -p a/b/c d')).toBe('');
    expect(outputOf(terminal, 'mkdir -p a/b')).toBe('');
    expect(files.list('/root/a/b')).toEqual(['c']);
    expect(outputOf(terminal, 'rm -rf a none')).toBe('');
    expect(files.list('/root')).toEqual(['d']);
    expect(outputOf(terminal, 'rm -r d')).toBe('');
    expect(files.list('/root')).toEqual([]);
  });

  it('shows the time of the device', () => {
    const { terminal, clock } = terminalOf();
    clock.advance(86_400_000);
    expect(outputOf(terminal, 'date')).toBe('Sun Feb 01 12:00:00 UTC 2026\n');
  });

  it('knows the size of the screen, and adapts to a new one', () => {
    const { terminal } = terminalOf();
    terminal.resize({ height: 50, width: 132 });
    expect(outputOf(terminal, 'echo $LINES $COLUMNS')).toBe('50 132\n');
  });

  it('shows bytes that are not text unchanged', () => {
    const { terminal, files } = terminalOf();
    files.write('/root/x', Buffer.from([0xe9, 0xff, 0x0a, 0]));
    const screen = terminal.type(Buffer.from('cat x\r'));
    expect(screen.subarray(7, 12)).toEqual(Buffer.from([0xe9, 0xff, 0x0d, 0x0a, 0]));
  });

  it('drops the line at Ctrl-C and continues', () => {
    const { terminal } = terminalOf();
    expect(terminal.type(Buffer.from('rm -rf /etc\x03')).toString()).toBe(
      `rm -rf /etc^C\r\n${prompt}`,
    );
    expect(outputOf(terminal, 'echo $?')).toBe('130\n');
    expect(terminal.hasEnded).toBe(false);
  });

  it.each([
    ['exit\r', 'exit\r\n'],
    ['\x04', 'exit\r\n'],
    ['exit\recho never\r', 'exit\r\n'],
  ])('ends at the keys %j', (keys, screen) => {
    const { terminal } = terminalOf();
    expect(terminal.type(Buffer.from(keys)).toString()).toBe(screen);
    expect(terminal.hasEnded).toBe(true);
    expect(terminal.type(Buffer.from('pwd\r'))).toHaveLength(0);
  });

  it('shows the same output for the same keys, whatever pieces they arrive in', () => {
    const keys = Buffer.from('mkdir ü\r\ncd ü\recho 🙂 > f\rcat f\rls -l\x7f\x7f -a\r\x03exit\n');
    const whole = terminalOf().terminal.type(keys).toString();
    const { terminal } = terminalOf();
    const chunks = [...keys].map((byte) => terminal.type(Buffer.from([byte])));
    expect(Buffer.concat(chunks).toString()).toBe(whole);
  });

  it('cuts very long output, says so, and continues', () => {
    const { terminal, files } = terminalOf();
    files.write('/root/big', Buffer.alloc(2 ** 20, 'x'));
    const screen = terminal.type(Buffer.from('cat big\r'.repeat(100)));
    expect(screen.length).toBeLessThan(2 ** 18 + 200);
    expect(screen.toString()).toContain('sh: output cut after 262144 bytes\r\n');
    expect(outputOf(terminal, 'echo alive')).toBe('alive\n');
  });

  it('does not join more output than fits a file', () => {
    const { terminal, files } = terminalOf();
    files.write('/root/big', Buffer.alloc(5 * 2 ** 20, 'x'));
    expect(outputOf(terminal, 'cat big big big > all')).toBe(
      'cat: big: File too large\ncat: big: File too large\n',
    );
    expect(files.stat('/root/all').sizeBytes).toBe(5 * 2 ** 20);
  });
});
