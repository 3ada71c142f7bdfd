import { readFileSync } from "node:fs";
import { compileMessage } from "@lingui/message-utils/compileMessage";
import { describe, expect, test } from "vitest";
import { chooseLocale, LOCALES } from "./locales.ts";

const english = read("en-US");
const others = Object.keys(LOCALES).filter((locale) => locale !== "en-US");

describe.each(others)("%s", (locale) => {
  const messages = read(locale);

  test("says all that English says, and nothing else", () => {
    expect(Object.keys(messages)).toEqual(Object.keys(english));
  });

  test("names the same values in each message", () => {
    for (const [id, text] of Object.entries(messages)) {
      expect(valuesOf(text), id).toEqual(valuesOf(english[id] ?? ""));
    }
  });

  test("has every plural of its language", () => {
    const categories = new Intl.PluralRules(locale).resolvedOptions().pluralCategories;
    for (const [id, text] of Object.entries(messages)) {
      if (!text.includes(", plural,")) continue;
      for (const category of categories) expect(text, id).toContain(`${category} {`);
    }
  });

  test("left no sentence in English", () => {
    const same = Object.entries(messages).filter(
      ([id, text]) => text === english[id] && /[a-z]{3,} [a-z]{2,}/.test(text),
    );
    expect(same).toEqual([]);
  });
});

/** As UX b.3 has them; a few of each kind. */
test.each([
  ["zh-CN", ["等待中", "就绪", "执行中", "已完成", "失败", "已取消"], "资源被其他任务占用"],
  [
    "es-ES",
    ["En espera", "Lista", "En ejecución", "Completada", "Fallida", "Cancelada"],
    "Recurso en uso por otra tarea",
  ],
  ["ja-JP", ["待機中", "実行可能", "実行中", "完了", "失敗", "キャンセル済み"], "別タスクがリソースを使用中"],
  [
    "vi-VN",
    ["Đang chờ", "Sẵn sàng", "Đang chạy", "Hoàn thành", "Thất bại", "Đã hủy"],
    "Tài nguyên đang được tác vụ khác dùng",
  ],
])("the status words of %s are those of the design", (locale, statuses, busy) => {
  const messages = read(locale);
  const names = ["PENDING", "AVAILABLE", "RUNNING", "DONE", "FAILED", "CANCELED"];

  expect(names.map((name) => messages[`status.${name}`])).toEqual(statuses);
  expect(messages["cause.RESOURCE_BUSY.other"]).toBe(busy);
});

test("every message can be read", () => {
  for (const locale of Object.keys(LOCALES)) {
    for (const [id, text] of Object.entries(read(locale)))
      expect(() => compileMessage(text), `${locale} ${id}`).not.toThrow();
  }
});

test.each([
  [["fr-FR", "es-MX"], "es-ES"],
  [["zh-TW"], "zh-CN"],
  [["de"], "en-US"],
  [[], "en-US"],
])("a browser that wishes %j gets %s", (wished, locale) => {
  expect(chooseLocale(wished)).toBe(locale);
});

function read(locale: string): Readonly<Record<string, string>> {
  return JSON.parse(readFileSync(new URL(`./messages/${locale}.json`, import.meta.url), "utf8")) as Record<
    string,
    string
  >;
}

function valuesOf(text: string): readonly string[] {
  return [...new Set([...text.matchAll(/\{(\w+)(?:[,}])/g)].map(([, name]) => name ?? ""))].toSorted();
}
