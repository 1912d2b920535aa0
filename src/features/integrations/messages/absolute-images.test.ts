import { expect, test } from 'vitest'
import { startEffort } from '../../../../test/effort.ts'
import { absoluteImages } from './absolute-images.ts'

const at = { host: 'https://forge.example', project: 'https://forge.example/group/engine' }

test.each([
  ['![a](/uploads/1234/a.png)', '![a](https://forge.example/group/engine/uploads/1234/a.png)'],
  ['see ![a](/other/b.png "title") there', 'see ![a](https://forge.example/other/b.png "title") there'],
  ['![a](c.png)![b](d.png)', '![a](https://forge.example/c.png)![b](https://forge.example/d.png)'],
  ['![a](https://elsewhere.example/a.png)', '![a](https://elsewhere.example/a.png)'],
  ['![a](//elsewhere.example/a.png)', '![a](//elsewhere.example/a.png)'],
  ['![a](data:image/png;base64,AA)', '![a](data:image/png;base64,AA)'],
  ['[a](/uploads/1234/a.png)', '[a](/uploads/1234/a.png)'],
  ['`![a](/a.png)`', '`![a](/a.png)`'],
  ['```\n![a](/a.png)\n```\n![a](/a.png)', '```\n![a](/a.png)\n```\n![a](https://forge.example/a.png)'],
  ['no image', 'no image'],
])('%s', (text, whole) => {
  expect(absoluteImages(text, at)).toBe(whole)
})

test('what is written to be slow is not', () => {
  const effort = startEffort()
  for (const part of ['![', '![](', '![a](/', '`![a](b) ', '![a]('.repeat(3)]) absoluteImages(part.repeat(100_000), at)
  expect(effort()).toBeLessThan(4000)
})
