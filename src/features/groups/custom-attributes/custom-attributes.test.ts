import { expect, test } from 'vitest'
import { openSource } from '../../../../test/sources.ts'
import { startForge } from '../../../forge.ts'

test.each(['users', 'groups', 'projects'] as const)('administrators note attributes of %s', async (kind) => {
  await using forge = await startForge()
  const { administrator } = forge
  const { id, group, owner } = await openSource(forge, 'projects')
  const at = `/${kind}/${{ users: owner.id, groups: group.id, projects: id }[kind]}/custom_attributes`
  expect((await administrator.get(at)).body).toEqual([])
  expect(await administrator.put(`${at}/place`, { value: 'north' })).toMatchObject({
    status: 200,
    body: { key: 'place', value: 'north' },
  })
  await administrator.put(`${at}/place`, { value: 'south' })
  await administrator.put(`${at}/a%20b`, { value: 'c' })
  expect((await administrator.get(at)).body).toEqual([
    { key: 'a b', value: 'c' },
    { key: 'place', value: 'south' },
  ])
  expect((await administrator.get(`${at}/place`)).body).toEqual({ key: 'place', value: 'south' })
  for (const [input, body] of [
    [{}, { error: 'value is missing' }],
    [{ value: ' ' }, { message: { value: ["can't be blank"] } }],
    [{ value: 'x'.repeat(256) }, { message: { value: ['is too long (maximum is 255 characters)'] } }],
  ] as const)
    expect(await administrator.put(`${at}/place`, input)).toMatchObject({ status: 400, body })
  expect((await owner.put(`${at}/place`, { value: 'x' })).status).toBe(403)
  expect((await administrator.get(`${at}/place`)).body.value).toBe('south')
  expect((await administrator.delete(`${at}/place`)).status).toBe(204)
  expect(await administrator.get(`${at}/place`)).toMatchObject({ status: 404, body: { message: '404 Not found' } })
  expect((await administrator.delete(`${at}/place`)).status).toBe(404)
  const elsewhere = { users: 'User', groups: 'Group', projects: 'Project' }[kind]
  expect((await administrator.get(`/${kind}/99999/custom_attributes`)).body).toEqual({
    message: `404 ${elsewhere} Not Found`,
  })
})
