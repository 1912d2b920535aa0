import { expect, test } from 'vitest'
import { plant } from '../test/planted.ts'
import { checkNames } from './check-names.ts'

test('names of the field are in order, also where a retired word is only a part of another', () => {
  using planted = plant({
    'src/lib/async/limiter.ts': 'export class Limiter {}\nexport const planes = 1, lane = 2',
    'src/features/identity/users/timestamps.ts': 'export const timestamp = 1\nexport function replaceAll() {}',
    'web/components/metrics.tsx': 'export type Metrics = 1\nconst told = 1',
    'src/store/migrations/2026-11-16-1500-text-places.ts': 'export const places = 1',
  })
  expect(checkNames(planted.root)).toEqual({ files: 3, violations: [] })
})

test('a retired word in an exported name or in the name of a file is refused', () => {
  using planted = plant({
    'src/lib/lanes.ts': 'export class TakenLane {}\nexport async function inTurn() {}\nexport const KEPT_FOR = 1',
    'web/Told.tsx': 'export interface Told {}\nexport type Found = 1\nexport const notFound = 1',
    'test/wishes.ts': 'export const wishesOf = 1',
  })
  expect(checkNames(planted.root).violations).toEqual([
    "src/lib/lanes.ts: the file's name has a retired word: use limiter, queue or bucket",
    'src/lib/lanes.ts: TakenLane has a retired word: use limiter, queue or bucket',
    'src/lib/lanes.ts: inTurn has a retired word: use mutex or tick',
    'src/lib/lanes.ts: KEPT_FOR has a retired word: use stored or cached',
    "test/wishes.ts: the file's name has a retired word: use input or options",
    'test/wishes.ts: wishesOf has a retired word: use input or options',
    "web/Told.tsx: the file's name has a retired word: use payload or message",
    'web/Told.tsx: Told has a retired word: use payload or message',
    'web/Told.tsx: Found has a retired word: use the noun that was found',
  ])
})
