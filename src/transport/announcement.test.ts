import { expect, test } from 'vitest'
import { HOUR } from '../clock.ts'
import { startForge } from '../forge.ts'
import { announcement } from './announcement.ts'

test('a current broadcast message is framed, wrapped and centred', async () => {
  await using forge = await startForge()
  expect(await announcement(forge.app)).toEqual([])
  const now = forge.clock.now().getTime()
  const post = (message: string, from: number, until: number) =>
    forge.administrator.post('/broadcast_messages', {
      message,
      starts_at: new Date(now + from * HOUR).toISOString(),
      ends_at: new Date(now + until * HOUR).toISOString(),
    })
  await post('Over.', -3, -1)
  await post('Not yet.', 1, 2)
  expect(await announcement(forge.app)).toEqual([])

  const long = 'We move to new machines on Sunday, from eight in the morning until noon; pushes are refused meanwhile.'
  await post(long, -1, 3)
  const rule = '='.repeat(72)
  const lines = [
    '   We move to new machines on Sunday, from eight in the morning until',
    '                  noon; pushes are refused meanwhile.',
  ]
  expect(await announcement(forge.app)).toEqual(['', rule, '', ...lines, '', rule, ''])
  forge.clock.advance(1.5 * HOUR)
  await post('x'.repeat(100), -1, 3)
  expect((await announcement(forge.app))[3]).toBe('x'.repeat(100))
})
