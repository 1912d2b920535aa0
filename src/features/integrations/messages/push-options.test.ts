import { expect, test } from 'vitest'
import { hookPushOptions } from './push-options.ts'

test('push options are told as they are spelt', () => {
  const options = ['ci.skip', 'ci.variable=A=1', 'ci.variable=B=2', 'mr.target=main', 'merge_request.label=x', 'other']
  expect(hookPushOptions(options)).toEqual({
    ci: { skip: true, variable: { 'A=1': 1, 'B=2': 1 } },
    merge_request: { target: 'main', label: { x: 1 } },
  })
})

test('hostile ones are names like any other', () => {
  const options = hookPushOptions(['__proto__.polluted=yes', 'ci.variable=__proto__', 'ci.__proto__=x'])
  expect(Object.getPrototypeOf(options)).toBe(Object.prototype)
  expect(JSON.parse(JSON.stringify(options))).toEqual(
    JSON.parse('{"__proto__":{"polluted":"yes"},"ci":{"variable":{"__proto__":1},"__proto__":"x"}}'),
  )
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  expect(JSON.stringify(hookPushOptions(Array.from({ length: 5000 }, (_, n) => `ci.k${n}=v`))).length).toBeLessThan(
    5000,
  )
})
