import { expect, test } from 'vitest'
import { startForge } from '../../../forge.ts'

test('limits are read and written back, one at a time', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const url = '/application/plan_limits'
  const { body: initial } = await root.get(url)
  expect(initial).toMatchObject({
    ci_pipeline_size: 0,
    npm_max_file_size: 524_288_000,
    conan_max_file_size: 3221225472,
  })
  const input = { plan_name: 'default', conan_max_file_size: 4_000_000_000, ci_pipeline_size: '' }
  const changed = { ...initial, conan_max_file_size: 4_000_000_000 }
  expect(await root.put(url, input)).toMatchObject({ status: 200, body: changed })
  expect((await root.get(url, { plan_name: 'default' })).body).toEqual(changed)
  const events = await forge.events()
  expect(events.at(-1)).toBe('plan_limits.updated')

  for (const wrong of [
    {},
    { plan_name: 'gold' },
    { ...input, ci_pipeline_size: -1 },
    { ...input, ci_pipeline_size: 'x' },
  ])
    expect((await root.put(url, wrong)).status, JSON.stringify(wrong)).toBe(400)
  expect((await root.get(url, { plan_name: 'gold' })).status).toBe(400)
  expect((await root.get(url)).body).toEqual(changed)
  expect(await forge.events()).toEqual(events)
})
