import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../fixtures/base/clock.ts';
import { noonMs } from '../../testing/client-fixture.ts';
import { absolutePath, DeviceFiles, FileError, fileLimits } from './files.ts';

function filesOf(contents: ConstructorParameters<typeof DeviceFiles>[1] = {}) {
  const clock = new ManualClock(noonMs);
  return { clock, files: new DeviceFiles(clock, contents) };
}

describe('the files of a device', () => {
  it.each([
    ['a', '/w/a'],
    ['./a//b/', '/w/a/b'],
    ['../a', '/a'],
    ['../../../..', '/'],
    ['/x/./y/../z', '/x/z'],
    ['', '/w'],
  ])('normalize the path %j to %j', (path, whole) => {
    expect(absolutePath(path, '/w')).toBe(whole);
  });

  it('keep what was written until they are written again', () => {
    const { clock, files } = filesOf();
    files.write('/a', Buffer.from('one'), { mode: 0o600, uid: 7, gid: 8 });
    expect(files.stat('/a')).toEqual({
      isFolder: false,
      sizeBytes: 3,
      mode: 0o600,
      uid: 7,
      gid: 8,
      modifiedMs: noonMs,
    });
    clock.advance(5000);
    files.write('/a', Buffer.from('other'));
    expect(files.read('/a').toString()).toBe('other');
    expect(files.stat('/a')).toMatchObject({ mode: 0o600, uid: 7, modifiedMs: noonMs + 5000 });
  });

  it('do not change with the buffer from which they were written', () => {
    const { files } = filesOf();
    const bytes = Buffer.from('one');
    files.write('/a', bytes);
    bytes.fill(0);
    expect(files.read('/a').toString()).toBe('one');
  });

  it('can generate their content at each read', () => {
    let version = 1;
    const { files } = filesOf({ '/etc/version': () => `v${version}` });
    version = 2;
    expect(files.read('/etc/version').toString()).toBe('v2');
    expect(files.stat('/etc/version').sizeBytes).toBe(2);
  });

  it('are listed in order', () => {
    const { files } = filesOf({ '/b/': '', '/c': '', '/a/x': '' });
    expect(files.list('/')).toEqual(['a', 'b', 'c']);
    expect(files.list('/b')).toEqual([]);
  });

  it('are removed together with their folder', () => {
    const { files } = filesOf({ '/a/b/c': 'x', '/a/d': 'y' });
    files.remove('/a');
    expect(files.list('/')).toEqual([]);
    expect(files.exists('/a/b/c')).toBe(false);
  });

  it.each<[string, (files: DeviceFiles) => unknown]>([
    ['No such file or directory', (files) => files.read('/none')],
    ['No such file or directory', (files) => files.read('/file/below')],
    ['No such file or directory', (files) => files.write('/none/new', Buffer.alloc(0))],
    ['No such file or directory', (files) => files.remove('/none')],
    ['No such file or directory', (files) => files.makeFolder('/none/new')],
    ['Is a directory', (files) => files.read('/folder')],
    ['Is a directory', (files) => files.write('/folder', Buffer.alloc(0))],
    ['Is a directory', (files) => files.write('/', Buffer.alloc(0))],
    ['Is a directory', (files) => files.remove('/')],
    ['Not a directory', (files) => files.list('/file')],
    ['Not a directory', (files) => files.makeFolder('/file/below')],
    ['File exists', (files) => files.makeFolder('/folder')],
    ['File exists', (files) => files.makeFolder('/file')],
    ['File name too long', (files) => files.makeFolder(`/${'x'.repeat(256)}`)],
    ['File name too long', (files) => files.makeFolder(`/${'測'.repeat(86)}`)],
    ['Invalid argument', (files) => files.makeFolder('/a\0b')],
    ['File too large', (files) => files.write('/big', Buffer.alloc(fileLimits.fileMaxBytes + 1))],
  ])('fail with %j and stay unchanged', (message, act) => {
    const { files } = filesOf({ '/file': 'x', '/folder/': '' });
    expect(() => act(files)).toThrow(FileError);
    expect(() => act(files)).toThrow(message);
    expect(files.list('/')).toEqual(['file', 'folder']);
    expect(files.read('/file').toString()).toBe('x');
  });

  it('have a memory limit, and can be written again once memory is free', () => {
    const { files } = filesOf();
    const half = Buffer.alloc(fileLimits.allMaxBytes / 2);
    files.write('/one', half);
    files.write('/two', half);
    expect(() => files.write('/three', Buffer.alloc(1))).toThrow('No space left on device');
    files.write('/two', Buffer.alloc(1));
    files.write('/three', Buffer.alloc(1));
    files.remove('/one');
    files.write('/four', half);
    expect(files.list('/')).toEqual(['four', 'three', 'two']);
  });

  it('have a maximum count, and can be added again once one is removed', () => {
    const { files } = filesOf({ '/a/b': '' });
    for (let index = 2; index < fileLimits.entriesMax; index++) files.makeFolder(`/${index}`);
    expect(() => files.makeFolder('/more')).toThrow('No space left on device');
    files.remove('/a');
    files.makeFolder('/more');
    files.makeFolder('/and-more');
    expect(() => files.makeFolder('/too-many')).toThrow('No space left on device');
  });
});
