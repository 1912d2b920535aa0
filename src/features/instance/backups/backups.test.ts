import { expect, test } from 'vitest'
import { startForge } from '../../../forge.ts'
import { backupState } from './state.ts'

const NOW = new Date('2026-11-20T12:00:00Z')
const sound = {
  current_at: '2026-11-20T11:59:58Z',
  captured_at: '2026-11-20T09:00:00Z',
  error: null,
  is_standby: false,
  verified_at: '2026-11-19T12:00:00Z',
  verified_moment: '2026-11-19T11:59:59Z',
  verify_error: null,
}

test.each([
  ['ok', {}, {}],
  ['off', {}, { backupUrl: null }],
  ['behind', { current_at: null }, {}],
  ['behind', { current_at: '2026-11-20T11:44:59Z' }, {}],
  ['ok', { current_at: '2026-11-20T11:45:01Z' }, {}],
  ['behind', { error: 'the disk is full' }, {}],
  ['unproven', { verified_at: null }, {}],
  ['unproven', { verified_at: '2026-11-18T11:59:59Z' }, {}],
  ['unproven', { verify_error: '1 error' }, {}],
  ['ok', { verified_at: null }, { backupVerify: false }],
  ['ok', { verified_at: null, is_standby: true }, {}],
  ['ok', { current_at: '2026-11-20T11:44:59Z', is_standby: true }, {}],
  ['behind', { error: 'the disk is full', is_standby: true }, {}],
] as const)('a backup is %s: %j %j', (state, change, config) => {
  expect(backupState({ backupUrl: '/backup', backupVerify: true, ...config }, NOW, { ...sound, ...change })).toBe(state)
})

test('without a backup there is nothing to see', async () => {
  await using forge = await startForge()
  expect((await forge.administrator.get('/application/backup')).body).toMatchObject({ state: 'off', url: null })
})
