import { expect, test } from 'vitest'
import { BadReport, readJunit } from './junit.ts'

const MALFORMED = 'JUnit XML is not well-formed'
const TOO_LARGE = 'JUnit data is too large'

test('cases with their results, of several suites', () => {
  const cases = readJunit(`<?xml version="1.0"?><!-- > --><testsuites><testsuite name="s" file='s.rb'>
    <testcase name="a &gt; &#98;&#x63;" classname = "A" time="1,000.5"><properties><property name="x" value=">"/></properties></testcase>
    <testcase name='b'><failure message="m">one <![CDATA[<two>&amp;]]> &lt;three&gt;</failure></testcase>
    <testcase name="c" file="c.rb"><skipped message="not &quot;now&quot;"/></testcase ></testsuite></testsuites>
    <testsuite><testcase name="d"><error>e</error></testcase></testsuite>`)
  const none = { classname: '', execution_time: 0, system_output: null }
  expect(cases).toEqual([
    { ...none, status: 'success', name: 'a > bc', classname: 'A', file: 's.rb', execution_time: 1000.5 },
    { ...none, status: 'failed', name: 'b', file: 's.rb', system_output: 'one <two>&amp; <three>' },
    { ...none, status: 'skipped', name: 'c', file: 'c.rb', system_output: 'not "now"' },
    { ...none, status: 'error', name: 'd', file: null, system_output: 'e' },
  ])
})

test('names and outputs are cut', () => {
  const [one] = readJunit(
    `<testcase name="${'n'.repeat(5000)}"><failure>${'&amp;'.repeat(20_000)}</failure></testcase>`,
  )
  expect([one!.name.length, one!.system_output]).toEqual([1000, '&'.repeat(10_000)])
})

test.each([
  ['a tag without an end', '<testcase', MALFORMED],
  ['a tag that is not closed', '<testsuite>', MALFORMED],
  ['tags that cross', '<a><b></a></b>', MALFORMED],
  ['an attribute without a value', '<a b>', MALFORMED],
  ['a value without quotes', '<a b=c/>', MALFORMED],
  ['a value without an end', '<a b="c/>', MALFORMED],
  ['a comment without an end', '<!-- ', MALFORMED],
  ['a document type', '<!DOCTYPE a [<!ENTITY b "c">]><a/>', 'JUnit XML with a document type is not read'],
  ['a name of 200,000 letters', `<${'a'.repeat(200_000)}/>`, MALFORMED],
  ['an attribute of 200,000 letters', `<a ${'b'.repeat(200_000)}="c"/>`, MALFORMED],
  ['many attributes', `<a ${'b="" '.repeat(200_000)}/>`, TOO_LARGE],
  ['deep nesting', '<a>'.repeat(200_000), TOO_LARGE],
  ['many cases', '<testcase/>'.repeat(100_001), TOO_LARGE],
])('%s', (_, text, message) => {
  expect(() => readJunit(text)).toThrow(new BadReport(message))
})
