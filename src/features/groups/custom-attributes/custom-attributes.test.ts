import { expect, test } from 'vitest'
import { openSource } from '../../../../test/sources.ts'
import { startForge, type Client } from '../../../forge.ts'

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
  expect((await administrator.put(`${at}/${'x'.repeat(256)}`, { value: 'c' })).body).toEqual({
    message: { key: ['is too long (maximum is 255 characters)'] },
  })
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

const named = (attributes: Record<string, string>) =>
  Object.fromEntries(Object.entries(attributes).map(([key, value]) => [`custom_attributes[${key}]`, value]))

test.each(['users', 'groups', 'projects'] as const)(
  'lists of %s are narrowed by attributes and show them',
  async (kind) => {
    await using forge = await startForge()
    const { administrator } = forge
    const { id, group, owner } = await openSource(forge, 'projects')
    const at = `/${kind}/${{ users: owner.id, groups: group.id, projects: id }[kind]}`
    const note = (key: string, value: string) => administrator.put(`${at}/custom_attributes/${key}`, { value })
    await note('place', 'north')
    await note('a%3D1%20b', 'c')
    const list = async (by: Client, query: Record<string, unknown>) => {
      const { status, body, headers } = await by.get(`/${kind}`, query)
      expect(status).toBe(200)
      return { found: body.length, total: Number(headers.get('x-total')), first: body[0] }
    }
    const all = await list(administrator, {})
    const found = (attributes: Record<string, string>) => list(administrator, named(attributes))
    expect(await found({ place: 'north' })).toMatchObject({ found: 1, total: 1 })
    expect(await found({ place: 'north', 'a=1 b': 'c' })).toMatchObject({ found: 1, total: 1 })
    expect(await found({ place: 'north', other: 'c' })).toMatchObject({ found: 0, total: 0 })
    expect(await found({ 'a=1': ' bc' })).toMatchObject({ found: 0 })
    expect(await found({ place: 'south' })).toMatchObject({ found: 0, total: 0 })
    await note('place', 'south')
    expect(await found({ place: 'south' })).toMatchObject({ found: 1, total: 1 })
    expect(await found({ place: 'north' })).toMatchObject({ found: 0, total: 0 })

    const south = named({ place: 'south' })
    const shown = (await list(administrator, { ...south, with_custom_attributes: true })).first
    expect(shown.custom_attributes).toEqual([
      { key: 'a=1 b', value: 'c' },
      { key: 'place', value: 'south' },
    ])
    expect((await list(administrator, south)).first).not.toHaveProperty('custom_attributes')
    // For other callers the filter is ignored.
    const usual = await list(owner, {})
    const others = await list(owner, { ...named({ place: 'nowhere' }), with_custom_attributes: true })
    expect(others).toEqual(usual)
    expect(others.first).not.toHaveProperty('custom_attributes')
    const many = Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`k${n}`, 'x']))
    expect(await administrator.get(`/${kind}`, named(many))).toMatchObject({
      status: 400,
      body: { error: 'custom_attributes is invalid' },
    })
    expect((await list(administrator, {})).total).toBe(all.total)
  },
)
