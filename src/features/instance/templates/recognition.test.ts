import { expect, test } from 'vitest'
import { startEffort } from '../../../../test/effort.ts'
import { fillPlaceholders } from './placeholders.ts'
import { findLicense, listLicenses } from './queries.ts'
import { recogniseLicense } from './recognition.ts'

const textOf = async (key: string) => (await findLicense(key))!.content
const keyOf = async (text: string) => (await recogniseLicense(text))?.key ?? null

const filled = (text: string) =>
  fillPlaceholders(text, { year: '2024', project: 'A very long name of a project', fullname: 'Ada Byron, and others' })

test('every license is known by its text, filled in, wrapped and marked up anew', async () => {
  for (const { key, content } of await listLicenses()) {
    const ways = [
      content,
      filled(content),
      filled(content).replaceAll('\n', '\r\n'),
      filled(content).replaceAll(/(?<=\S)\n(?=\S)/g, ' '),
      `# License\n\n${filled(content).replaceAll('"', '“')}`,
    ]
    for (const text of ways) expect([key, await keyOf(text)]).toEqual([key, key])
  }
})

test('what is usually left out or put in makes no difference', async () => {
  const mit = await textOf('mit')
  const lines = 'Copyright (c) 2011-2024 Ada\nCopyright 2020 Bob. All rights reserved.\n© 2023 The Authors of It'
  expect(await keyOf(mit.replace(/^MIT License\n/, 'The MIT License (MIT)\n').replace(/^Copyright.*$/m, lines))).toBe(
    'mit',
  )
  for (const key of ['apache-2.0', 'gpl-3.0', 'agpl-3.0', 'gpl-2.0']) {
    const text = await textOf(key)
    const end = /end of terms and conditions/i.exec(text)!
    expect([key, await keyOf(text.slice(0, end.index + end[0].length))]).toEqual([key, key])
  }
})

test('another text is none of them', async () => {
  const mit = await textOf('mit')
  const clause = 'The Software shall be used for Good, not Evil.'
  const others = ['', ' \n', 'MIT', 'All rights reserved.', `${mit}\n${clause}`, mit + mit, mit.slice(0, 900)]
  for (const text of [...others, mit + (await textOf('apache-2.0'))]) {
    expect([text.slice(-30), await keyOf(text)]).toEqual([text.slice(-30), null])
  }
})

test.each([
  ['line breaks', '\n'],
  ['signs', '# * (c'],
  ['placeholders', '<one line '],
  ['ends', 'end of terms and conditions '],
  ['rights', 'all rights '],
])('a text of nothing but %s takes no longer than its length', async (_what, piece) => {
  const effort = startEffort()
  expect(await keyOf(piece.repeat(Math.ceil(200_000 / piece.length)))).toBeNull()
  expect(effort()).toBeLessThan(1000)
})
