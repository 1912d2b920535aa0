import { expect, test } from 'vitest'
import { growth } from '../../../test/effort.ts'
import { QUICK_ACTIONS, splitQuickActions } from './quick-actions.ts'

test.each([
  ['hello', 'hello', []],
  ['/close', '', [['close', '']]],
  ['hello\n/label ~bug ~"two words"\nworld', 'hello\nworld', [['label', '~bug ~"two words"']]],
  [
    '/assign @a\n/close\ndone',
    'done',
    [
      ['assign', '@a'],
      ['close', ''],
    ],
  ],
  ['/CLOSE', '', [['close', '']]],
  ['/title  A new title  ', '', [['title', 'A new title']]],
  ['a\r\n/todo\r\nb\r\n', 'a\nb', [['todo', '']]],
  ['  a \n\n/todo\n\n', 'a', [['todo', '']]],
  ['/spend_time -1h', '', [['spend', '-1h']]],
  ['/react :tada:', '', [['award', ':tada:']]],
  ['/remove_label ~a', '', [['unlabel', '~a']]],
  ['/labels ~a', '', [['label', '~a']]],
  ['/merge', '', [['merge', '']]],
  ['/unknown thing', '/unknown thing', []],
  ['/epic &1\n/iteration *1\n/health_status on_track', '/epic &1\n/iteration *1\n/health_status on_track', []],
  ['/closed', '/closed', []],
  ['/close-it', '/close-it', []],
  ['/constructor', '/constructor', []],
  [' /close', '/close', []],
  ['see /close', 'see /close', []],
  ['/usr/bin/env', '/usr/bin/env', []],
  ['```\n/close\n```', '```\n/close\n```', []],
  ['~~~~ sh\n/close\n~~~\n/close\n~~~~\n/todo', '~~~~ sh\n/close\n~~~\n/close\n~~~~', [['todo', '']]],
  ['```\n/close', '```\n/close', []],
  ['``` a` \n/close', '``` a`', [['close', '']]],
  ['<pre>\n/close\n</pre>\n/todo', '<pre>\n/close\n</pre>', [['todo', '']]],
  ['<p>\n/close', '<p>', [['close', '']]],
  ['>>>\n/close\n>>>\n/todo', '>>>\n/close\n>>>', [['todo', '']]],
  ['>>>\n/close', '>>>', [['close', '']]],
  ['> /close', '> /close', []],
  ['/shrug well', 'well ¯\\_(ツ)_/¯', []],
  ['/tableflip', '(╯°□°)╯︵ ┻━┻', []],
  ['a\n/cc @b\n/close', 'a\n/cc @b', [['close', '']]],
  ['', '', []],
] as const)('%j is split', (text, kept, commands) =>
  expect(splitQuickActions(text)).toEqual({
    text: kept,
    commands: commands.map(([name, argument]) => ({ name, argument })),
  }),
)

test('every command holds for something, and no two share a spelling', () => {
  const all = Object.entries(QUICK_ACTIONS)
  expect(all.filter(([, { on }]) => !on[0])).toEqual([])
  const spellings = all.flatMap(([name, definition]) => [name, ...('aliases' in definition ? definition.aliases : [])])
  expect(new Set(spellings).size).toBe(spellings.length)
  for (const spelling of spellings.filter((name) => !['cc', 'shrug', 'tableflip'].includes(name)))
    expect(splitQuickActions(`/${spelling}`).commands).toHaveLength(1)
})

test.each(['/close\n', '/', '/close ', '```\n', '<a>\n', '<a ', '</a>\n<b>\n', '>>>\n', '`', '\r'])(
  '%j again and again is split in time that grows with its length',
  (piece) => expect(growth(splitQuickActions, piece)).toBeLessThan(3),
)
