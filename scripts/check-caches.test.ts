import { join } from 'node:path'
import { expect, test } from 'vitest'
import { plant } from '../test/planted.ts'
import { checkCaches, outdated } from './check-caches.ts'

test('a map that a process keeps for ever is refused, tables of values and maps of a function are not', () => {
  using planted = plant({
    'src/lib/text/words.ts': 'const seen = new Map<string, Map<string, number>>()\nexport const all = new Set()',
    'src/lib/text/names.ts': "const NAMES = new Map([['a', 1]])\nfunction count() {\n  const found = new Map()\n}",
    'src/lib/text/words.test.ts': 'const seen = new Map()',
    'web/state.ts': 'let open: Set<string> = new Set()',
  })
  const advice = 'make it an Lru, or list in scripts/check-caches.ts what empties it'
  expect(checkCaches(planted.root)).toEqual({
    files: 3,
    violations: [
      `src/lib/text/words.ts seen: ${advice}`,
      `src/lib/text/words.ts all: ${advice}`,
      `web/state.ts open: ${advice}`,
    ],
  })
})

test('the sources have no other, and everything listed is there', () => {
  const root = join(import.meta.dirname, '..')
  expect([checkCaches(root).violations, outdated(root)]).toEqual([[], []])
})
