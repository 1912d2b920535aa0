import { expect, test } from 'vitest'
import { languageOf, sharesOf } from './languages.ts'

test.each([
  ['src/main.ts', 'TypeScript'],
  ['A/B.PY', 'Python'],
  ['Makefile', 'Makefile'],
  ['docker/Dockerfile.prod', 'Dockerfile'],
  ['.bashrc', null],
  ['x.sh', 'Shell'],
  ['README.md', null],
  ['data.json', null],
  ['vendor/lib.c', null],
  ['web/node_modules/a/index.js', null],
  ['app.min.js', null],
  ['types.d.ts', null],
  ['noending', null],
  ['constructor', null],
  ['x.constructor', null],
])('%s is written in %s', (path, language) => {
  expect(languageOf(path)).toBe(language)
})

test('shares are per cent with two digits, the largest first', () => {
  const sizes = new Map([
    ['B', 1],
    ['A', 2],
    ['None', 0],
  ])
  expect(Object.entries(sharesOf(sizes))).toEqual([
    ['A', 66.67],
    ['B', 33.33],
  ])
  expect(sharesOf(new Map())).toEqual({})
})
