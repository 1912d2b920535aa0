import { expect, test } from 'vitest'
import { parseCommand } from './commands.ts'

test('what git and git-lfs send', () => {
  const fetch = { verb: 'upload-pack', path: '/a/b.git' }
  for (const line of [
    "git-upload-pack '/a/b.git'",
    "git upload-pack '/a/b.git'",
    'git-upload-pack /a/b.git',
    'git-upload-pack "/a/b.git" ',
    "git-upload-pack '/a'/b.git",
  ])
    expect([line, parseCommand(line)]).toEqual([line, fetch])
  expect(parseCommand("git-receive-pack 'it'\\''s.git'")).toEqual({ verb: 'receive-pack', path: "it's.git" })
  expect(parseCommand("git-upload-archive 'a b'")).toEqual({ verb: 'upload-archive', path: 'a b' })
  expect(parseCommand('git-lfs-authenticate a/b.git upload')).toEqual({
    verb: 'lfs-authenticate',
    path: 'a/b.git',
    operation: 'upload',
  })
})

test('new recovery codes, and nothing more with it', () => {
  expect(parseCommand('2fa_recovery_codes')).toEqual({ verb: '2fa_recovery_codes' })
  expect(parseCommand('discover')).toEqual({ verb: 'discover' })
  expect(parseCommand("personal_access_token 'my token' api 7")).toEqual({
    verb: 'personal_access_token',
    words: ['my token', 'api', '7'],
  })
  for (const line of ['2fa_recovery_codes jane', 'git 2fa_recovery_codes', '2fa_verify'])
    expect(parseCommand(line)).toBeNull()
})

test('everything else', () => {
  const others = [
    'ls',
    'git',
    'git-upload-pack',
    "git-upload-pack ''",
    'git-shell a',
    'git-upload-pack a b',
    'git-upload-pack --strict a',
    "git-upload-pack 'a",
    'git-upload-pack "a',
    'git-upload-pack a\\',
    'git-lfs-authenticate a',
    'git-lfs-authenticate a remove',
    'git-lfs-authenticate a upload b',
    'scp -t /etc/passwd',
    '/usr/bin/git-upload-pack a',
    `git-upload-pack ${'a'.repeat(5000)}`,
    '',
  ]
  for (const line of others) expect([line, parseCommand(line)]).toEqual([line, null])
  // A shell would interpret these. Here they are plain characters of a path that does not exist.
  for (const path of ['a;id', '$(id)', '`id`', 'a|id', 'a&&id'])
    expect(parseCommand(`git-upload-pack ${path}`)).toEqual({ verb: 'upload-pack', path })
})
