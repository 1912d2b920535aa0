import { expect, test } from 'vitest'
import { returnAddress } from './return-address.ts'

test('a path of this instance is kept with its query and fragment', () => {
  expect(returnAddress('/group/project?tab=files#top')).toBe('/group/project?tab=files#top')
  expect(returnAddress('/oauth/authorize?redirect_uri=https%3A%2F%2Fapp.example')).toBe(
    '/oauth/authorize?redirect_uri=https%3A%2F%2Fapp.example',
  )
})

test.each([
  null,
  '',
  'evil.example',
  'https://evil.example',
  '//evil.example',
  '///evil.example',
  '/\\evil.example',
  '\\\\evil.example',
  '/\t/evil.example',
  '/\n/evil.example',
  '/.//evil.example',
  '/a/..//evil.example',
  '/./\\evil.example',
  'javascript:alert(1)',
  ' /profile',
])('%j leads to the front page', (given) => {
  expect(returnAddress(given)).toBe('/')
})
