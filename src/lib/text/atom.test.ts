import Parser from 'rss-parser'
import { expect, test } from 'vitest'
import { feedMoment, writeFeed, type Feed } from './atom.ts'

const feed = (entries: Feed['entries']): Feed => ({
  id: 'http://forge.test/a',
  title: 'a activity',
  self: 'http://forge.test/a.atom?x=1&y=2',
  page: 'http://forge.test/a',
  since: '2026-01-01T00:00:00.000Z',
  entries,
})

const HOSTILE = `]]> <![CDATA[ &amp; "x" 'y' </title><script>alert(1)</script> \0\x01\x1f\x7f\x9b \ud800 \uffff tail`

test('no text of anybody’s breaks a feed: a reader gets it back without what XML cannot hold', async () => {
  const entry = {
    id: `http://forge.test/${HOSTILE}`,
    title: 'plain',
    link: 'http://forge.test/?a=1&b="2"',
    updated: '2026-02-03T04:05:06.789Z',
    author: { name: HOSTILE },
    picture: 'http://forge.test/p?a=1&b=2',
    categories: [HOSTILE],
    summary: { type: 'text', text: HOSTILE } as const,
    content: { type: 'html', text: '<p>a &amp; b</p>' } as const,
  }
  const text = writeFeed(feed([entry]))
  const clean = `]]> <![CDATA[ &amp; "x" 'y' </title><script>alert(1)</script>  \ufffd  tail`
  const read = await new Parser().parseString(text)
  expect(read).toMatchObject({ title: 'a activity', feedUrl: 'http://forge.test/a.atom?x=1&y=2' })
  expect(read.items).toMatchObject([
    { author: clean, summary: clean, content: '<p>a &amp; b</p>', link: entry.link, title: 'plain' },
  ])
  expect(text).not.toContain('<script>')
})

test('it is as new as its newest entry, or as what it is about; titles and years stay within bounds', async () => {
  const entry = (updated: string, title = 'x') => ({ id: updated, title, link: 'http://forge.test/', updated })
  const updatedOf = (text: string) => /<updated>([^<]*)/.exec(text)![1]
  expect(updatedOf(writeFeed(feed([])))).toBe('2026-01-01T00:00:00.000Z')
  const two = [entry('2026-02-03T04:05:06+02:00'), entry('2026-02-03T03:05:06Z')]
  expect(updatedOf(writeFeed(feed(two)))).toBe('2026-02-03T03:05:06.000Z')
  expect([feedMoment(new Date(8.64e15)), feedMoment('nonsense')]).toEqual(Array(2).fill('1970-01-01T00:00:00.000Z'))
  const [item] = (await new Parser().parseString(writeFeed(feed([entry('2026-01-01', '😀'.repeat(1000))])))).items
  expect(item!.title).toBe(`${'😀'.repeat(79)}…`)
})
