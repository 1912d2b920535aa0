import { expect, test } from 'vitest'
import { allValuesOf, valuesOf } from './entries.ts'

test('values are found whatever the case of their name, one or many', () => {
  const entry = { dn: 'cn=x', mail: 'x@example.org', displayName: ['X', 'Y'], cn: [], photo: Buffer.from('é') }
  expect(valuesOf(entry, 'MAIL')).toEqual(['x@example.org'])
  expect(valuesOf(entry, 'displayname')).toEqual(['X', 'Y'])
  expect(valuesOf(entry, 'photo')).toEqual(['é'])
  expect(valuesOf(entry, 'cn')).toEqual([])
  expect(valuesOf(entry, 'sn')).toEqual([])
})

test('a list that the server cuts into slices is read to its end', async () => {
  const requests: string[] = []
  const slices: Record<string, object> = {
    'member;range=2-*': { 'member;range=2-3': ['c', 'd'] },
    'member;range=4-*': { 'Member;Range=4-*': 'e' },
  }
  const read = async (attribute: string) => {
    requests.push(attribute)
    return { dn: 'cn=x', ...slices[attribute] }
  }
  const first = { dn: 'cn=x', member: [], 'member;range=0-1': ['a', 'b'] }
  expect(await allValuesOf(first, 'member', read)).toEqual(['a', 'b', 'c', 'd', 'e'])
  expect(requests).toEqual(['member;range=2-*', 'member;range=4-*'])
  expect(await allValuesOf({ dn: 'cn=x', member: ['a', 'b'] }, 'member', read)).toEqual(['a', 'b'])
  expect(requests).toHaveLength(2)
})

test('a list that breaks off is no list', async () => {
  const first = { dn: 'cn=x', 'member;range=0-1': ['a', 'b'] }
  await expect(allValuesOf(first, 'member', async () => ({ dn: 'cn=x' }))).rejects.toThrow('broke off')
})
