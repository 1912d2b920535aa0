import { expect, test } from 'vitest'
import { isOfDomain } from './email-domains.ts'

test.each([
  ['jane@example.com', ['example.com'], true],
  ['jane@EXAMPLE.com', ['Example.COM'], true],
  ['jane@example.com.', ['example.com'], true],
  ['jane@example.com', ['example.com.'], true],
  ['jane@mail.example.com', ['example.com'], false],
  ['jane@badexample.com', ['example.com'], false],
  ['jane@example.com.bad', ['example.com'], false],
  ['jane@mail.example.com', ['*.example.com'], true],
  ['jane@a.mail.example.com', ['*.example.com'], true],
  ['jane@example.com', ['*.example.com'], false],
  ['jane@badexample.com', ['*.example.com'], false],
  ['jane@anything', ['*'], true],
  ['jane@example.com', ['a.example', 'example.com'], true],
  ['jane@example.com', [], false],
])('%s of %j: %s', (email, domains, expected) => {
  expect(isOfDomain(email, domains)).toBe(expected)
})
