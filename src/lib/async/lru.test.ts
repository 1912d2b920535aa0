import { expect, test } from 'vitest'
import { CacheBudget } from './cache-budget.ts'
import { Lru } from './lru.ts'

test('what is longest unused goes first, by the weight of all', () => {
  const kept = new Lru<string>('texts', (value) => value.length, new CacheBudget(6))
  kept.set('a', '12')
  kept.set('b', '34')
  kept.set('c', '56')
  expect(kept.get('a')).toBe('12')
  kept.set('d', '7')
  expect(['a', 'b', 'c', 'd'].map((key) => kept.get(key))).toEqual(['12', undefined, '56', '7'])
  kept.set('c', '')
  kept.set('e', '890')
  expect(['a', 'c', 'd', 'e'].map((key) => kept.get(key))).toEqual(['12', '', '7', '890'])
  kept.set('f', 'too much')
  expect(['a', 'c', 'd', 'e', 'f'].map((key) => kept.get(key))).toEqual(['12', '', '7', '890', undefined])
})

test('where all were used, the oldest of them makes room, not what is new', () => {
  const kept = new Lru<number>('numbers', () => 1, new CacheBudget(3))
  for (const n of [0, 1, 2]) kept.set(`${n}`, n)
  for (const n of [2, 1, 0]) kept.get(`${n}`)
  kept.set('3', 3)
  expect(['0', '1', '2', '3'].map((key) => kept.get(key))).toEqual([undefined, 1, 2, 3])
  kept.set('3', 4)
  expect(['1', '2', '3'].map((key) => kept.get(key))).toEqual([1, 2, 4])
})

test('caches share one limit: of all their entries, the one that is longest unused goes first', () => {
  const budget = new CacheBudget(6)
  const [texts, lists] = ['texts', 'lists'].map((name) => new Lru<string>(name, (value) => value.length, budget)) as [
    Lru<string>,
    Lru<string>,
  ]
  texts.set('a', '12')
  lists.set('a', '34')
  texts.set('b', '56')
  expect([...budget.weights]).toEqual([
    ['texts', 4],
    ['lists', 2],
  ])
  texts.get('a')
  texts.set('c', '7')
  expect([texts.get('a'), lists.get('a'), texts.get('b'), texts.get('c')]).toEqual(['12', undefined, '56', '7'])
  budget.resize(3)
  expect([...budget.weights.values()].reduce((sum, weight) => sum + weight)).toBeLessThanOrEqual(3)
  texts.clear()
  expect([...budget.weights.values()]).toEqual([0, 0])
})

test('what is deleted weighs nothing any more, nor what a value has grown to since', () => {
  const kept = new Lru<string[]>('lists', (value) => value.length, new CacheBudget(4))
  const growing = ['1']
  kept.set('a/x', growing)
  kept.set('a/y', ['2'])
  kept.set('b/x', ['3'])
  growing.push('4', '5', '6')
  kept.deleteAll('a/')
  kept.delete('nothing')
  expect(['a/x', 'a/y', 'b/x'].map((key) => kept.get(key))).toEqual([undefined, undefined, ['3']])
  kept.set('c', ['7', '8', '9'])
  expect(['b/x', 'c'].map((key) => kept.get(key)?.length)).toEqual([1, 3])
})
