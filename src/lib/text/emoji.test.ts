import { expect, test } from 'vitest'
import { findEmoji } from './emoji.ts'

test.each([
  ['thumbsup', 'thumbsup', '👍'],
  ['+1', 'thumbsup', '👍'],
  ['-1', 'thumbsdown', '👎'],
  ['thumbup', 'thumbsup', '👍'],
  ['TADA', 'tada', '🎉'],
  ['100', '100', '💯'],
  ['slight_smile', 'slightly_smiling_face', '🙂'],
  ['heart', 'heart', '❤️'],
  ['rocket', 'rocket', '🚀'],
])('%s is %s', async (written, name, text) => expect(await findEmoji(written)).toEqual({ name, text }))

test.each(['', 'nothing_such', ':tada:', 'constructor', 'x'.repeat(1000)])('%j is none', async (name) =>
  expect(await findEmoji(name)).toBeNull(),
)

test('every further name leads to one', async () => {
  for (const name of ['face_palm', 'hugging', 'nerd', 'slight_frown', 'thinking_face', 'rolling_eyes', 'upside_down'])
    expect(await findEmoji(name), name).toMatchObject({ text: expect.stringMatching(/./u) })
})
