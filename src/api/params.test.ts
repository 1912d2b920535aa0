import { expect, test } from 'vitest'
import { MalformedParams, parseParams } from './params.ts'

test.each([
  ['', {}],
  ['a=1', { a: '1' }],
  ['a=1&b=2', { a: '1', b: '2' }],
  ['a=1&a=2', { a: '2' }],
  ['a', { a: '' }],
  ['a=', { a: '' }],
  ['a=b=c', { a: 'b=c' }],
  ['&&a=1&', { a: '1' }],
  ['=1', { '': '1' }],
  ['q=a+b%2Bc', { q: 'a b+c' }],
  ['a+b=1', { 'a b': '1' }],
  ['name=%C3%A9t%C3%A9', { name: 'été' }],
  ['a[]=1&a[]=2', { a: ['1', '2'] }],
  ['a%5B%5D=1&a%5b%5d=2', { a: ['1', '2'] }],
  ['a[]', { a: [''] }],
  ['a[b]=c&a[d]=e', { a: { b: 'c', d: 'e' } }],
  ['a[b][]=x&a[b][]=y', { a: { b: ['x', 'y'] } }],
  ['a[b][c][d][e]=1', { a: { b: { c: { d: { e: '1' } } } } }],
  ['a[0]=x&a[1]=y', { a: { 0: 'x', 1: 'y' } }],
  ['a[][x]=1&a[][y]=2&a[][x]=3', { a: [{ x: '1', y: '2' }, { x: '3' }] }],
  ['a[][x][]=1&a[][x][]=2', { a: [{ x: ['1', '2'] }] }],
  ['a[][x][y]=1&a[][x][z]=2&a[][x][y]=3', { a: [{ x: { y: '1', z: '2' } }, { x: { y: '3' } }] }],
  ['a[]=1&a[][x]=2', { a: ['1', { x: '2' }] }],
])('reads %s', (text, params) => {
  expect(parseParams(text)).toEqual(params)
})

test.each([
  ['a=1&a[]=2', { a: ['2'] }],
  ['a[]=1&a=2', { a: '2' }],
  ['a[b]=1&a[]=2', { a: ['2'] }],
  ['a[]=1&a[b]=2', { a: { b: '2' } }],
])('lets the last kind win in %s', (text, params) => {
  expect(parseParams(text)).toEqual(params)
})

test.each(['a[b', 'a[', '[a]', '[]', 'a[b]c', 'a[[b]]', 'a[b]]', 'a[b]c[d]', 'a]'])(
  'keeps the name %s whole',
  (name) => {
    expect(parseParams(`${name}=1`)).toEqual({ [name]: '1' })
  },
)

test.each(['a=%', 'a=%4', 'a=%zz', '%=1', 'a=%ff', 'a=%C3', 'a=%C0%80', 'a=%ED%A0%80'])('refuses %s', (text) => {
  expect(() => parseParams(text)).toThrow(MalformedParams)
})

test('refuses more than five levels', () => {
  expect(() => parseParams('a[b][c][d][e][f]=1')).toThrow(MalformedParams)
  expect(() => parseParams('a[][][][][]=1')).toThrow(MalformedParams)
})

test('refuses more than a thousand pairs', () => {
  expect(parseParams('a[]=1&'.repeat(1_000))).toEqual({ a: Array(1_000).fill('1') })
  expect(() => parseParams('a[]=1&'.repeat(1_001))).toThrow(MalformedParams)
})

test('treats names of inherited properties as plain names', () => {
  const params = parseParams('__proto__[admin]=1&constructor[prototype][admin]=1&a[__proto__][admin]=1&toString=1')
  expect(Object.keys(params)).toEqual(['__proto__', 'constructor', 'a', 'toString'])
  expect(Object.getPrototypeOf(params)).toBeNull()
  expect(({} as { admin?: string }).admin).toBeUndefined()
  expect(parseParams('a=1').toString).toBeUndefined()
})
