import { expect, test } from 'vitest'
import { parseNaturalDate } from './natural-date.ts'

/** A Monday. */
const TODAY = '2026-11-16'

test.each([
  ['2026-12-31', '2026-12-31'],
  ['2026/1/2', '2026-01-02'],
  ['12/31/2026', '2026-12-31'],
  ['today', '2026-11-16'],
  ['Tomorrow', '2026-11-17'],
  ['yesterday', '2026-11-15'],
  ['the day after tomorrow', '2026-11-18'],
  ['in 2 days', '2026-11-18'],
  ['in two weeks', '2026-11-30'],
  ['in a fortnight', '2026-11-30'],
  ['3 days from now', '2026-11-19'],
  ['3 days ago', '2026-11-13'],
  ['in 1 month', '2026-12-16'],
  ['in a year', '2027-11-16'],
  ['next week', '2026-11-23'],
  ['next month', '2026-12-16'],
  ['Friday', '2026-11-20'],
  ['this Friday', '2026-11-20'],
  ['this friday', '2026-11-20'],
  ['next Friday', '2026-11-27'],
  ['last Friday', '2026-11-13'],
  ['Monday', '2026-11-23'],
  ['next mon', '2026-11-23'],
  ['on Sun', '2026-11-22'],
  ['next Sunday', '2026-11-29'],
  ['December 31st', '2026-12-31'],
  ['Dec 31', '2026-12-31'],
  ['31st of December', '2026-12-31'],
  ['Dec. 1st, 2027', '2027-12-01'],
  ['1 January', '2027-01-01'],
  ['November 16', '2026-11-16'],
  ['November 15', '2027-11-15'],
  ['February 29', '2028-02-29'],
  ['Sept 3', '2027-09-03'],
])('%j is %s', (text, date) => expect(parseNaturalDate(text, TODAY)).toBe(date))

test.each([
  ['2026-01-31', 'in 1 month', '2026-02-28'],
  ['2028-02-29', 'in 1 year', '2029-02-28'],
  ['2026-11-22', 'next Monday', '2026-11-23'],
  ['2026-11-21', 'this Friday', '2026-11-27'],
  ['2026-12-31', 'tomorrow', '2027-01-01'],
])('from %s on, %j is %s', (today, text, date) => expect(parseNaturalDate(text, today)).toBe(date))

test.each([
  '',
  ' ',
  'soon',
  'the',
  '2026-02-30',
  '2026-13-01',
  'February 30',
  '2 days',
  'in days',
  'in 99999 years',
  'mayor 1',
  'December',
  'December 31st noon',
  'next',
  'x'.repeat(200),
])('%j is no date', (text) => expect(parseNaturalDate(text, TODAY)).toBeNull())
