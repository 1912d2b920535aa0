import { expect, test } from 'vitest'
import { moveUploadAddresses, uploadSecrets } from './upload-addresses.ts'

const [a, b, c] = ['a', 'b', 'c'].map((digit) => digit.repeat(32)) as [string, string, string]
const move = { from: 'group/engine', to: 'other/wheel', secrets: new Map([[a, c]]) }

test.each([
  [
    `![x](/uploads/${a}/x.png) and again /uploads/${a}/x.png`,
    `![x](/uploads/${c}/x.png) and again /uploads/${c}/x.png`,
  ],
  [`https://forge/group/engine/uploads/${a}/x.png`, `https://forge/other/wheel/uploads/${c}/x.png`],
  [`[y](/uploads/${b}/y.png) [x](/uploads/${a}/x.png)`, `[y](/uploads/${b}/y.png) [x](/uploads/${c}/x.png)`],
  [`/uploads/${a}0/x.png /uploads/${a}`, `/uploads/${a}0/x.png /uploads/${a}`],
  ['nothing', 'nothing'],
])('%j becomes %j', (text, expected) => {
  expect(moveUploadAddresses(text, move)).toBe(expected)
})

test('secrets are told in their order', () => {
  expect(uploadSecrets(`/uploads/${b}/y.png /uploads/${a}/x.png /uploads/${b.toUpperCase()}/z`)).toEqual([b, a])
})
