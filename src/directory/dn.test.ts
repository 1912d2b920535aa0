import { expect, test } from 'vitest'
import { isWithin, normaliseDn } from './dn.ts'

const DN = 'uid=jane,ou=people,dc=example,dc=org'

test.each([
  [DN, DN],
  ['UID=Jane, OU=People ,dc = Example,DC=org', DN],
  ['uid=\\6a\\61ne,ou=people,dc=example,dc=org', DN],
  ['cn=Doe\\, Jane,dc=org', 'cn=doe\\, jane,dc=org'],
  ['cn=Doe\\2C  Jane\\20,dc=org', 'cn=doe\\, jane,dc=org'],
  ['cn=J\\C3\\BCrgen,dc=org', 'cn=jürgen,dc=org'],
  ['cn=Ju\u0308rgen,dc=org', 'cn=jürgen,dc=org'],
  ['cn=a\\\\,dc=org', 'cn=a\\\\,dc=org'],
  ['cn=\\#1=2,dc=org', 'cn=\\#1\\=2,dc=org'],
  ['UID=7+CN=Jane,dc=org', 'cn=jane+uid=7,dc=org'],
  ['cn=a\\+b,dc=org', 'cn=a\\+b,dc=org'],
  ['no dn', 'no dn'],
  ['', ''],
])('%s is written %s', (given, normal) => {
  expect(normaliseDn(given)).toBe(normal)
  expect(normaliseDn(normal)).toBe(normal)
})

test.each([
  [DN, 'ou=People, dc=example,dc=org', true],
  [DN, DN, true],
  ['ou=people,dc=example,dc=org', DN, false],
  [DN, 'ou=people,dc=example,dc=com', false],
  ['uid=jane,ou=otherpeople,dc=example,dc=org', 'people,dc=example,dc=org', false],
  // The comma belongs to a value, so the entry stands directly below dc=org.
  ['cn=a\\,dc=example,dc=org', 'dc=example,dc=org', false],
  ['', 'dc=org', false],
])('%s is within %s: %s', (dn, base, answer) => {
  expect(isWithin(dn, base)).toBe(answer)
})
