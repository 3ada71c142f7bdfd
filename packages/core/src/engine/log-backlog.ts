/**
 * What one claim has printed and is not stored yet. Bounded: the beginning of the log and the newest bytes are kept,
 * what lies between goes. Nothing is lost by it that the stored log would keep, however slow the database is.
 */

import { TextDecoder } from "node:util";
import { LOG_CHUNK_BYTES, LOG_HEAD_BYTES, LOG_TAIL_BYTES, type LogStream } from "../domain/log.ts";
import type { LogChunk } from "../store/logs/write.ts";

interface Piece {
  readonly start: number;
  readonly stream: LogStream;
  bytes: Buffer;
}

/** Small pieces are joined up to here; each costs memory of its own, and a row. */
const JOIN_BYTES = 4_096;
const COST_OF_A_PIECE = 128;

export class LogBacklog {
  /** Of the beginning: they stay. */
  #head: Piece[] = [];
  /** Those before `#tailFrom` are left out already. */
  #tail: Piece[] = [];
  #tailFrom = 0;
  #tailCost = 0;
  #printed = 0;
  /** On their way to the database. Tried again as they are: then a lost answer does no harm. */
  #underWay: readonly LogChunk[] | null = null;
  readonly #halves = new Set<LogStream>();
  readonly #decoders = new Map<LogStream, TextDecoder>();

  get isEmpty(): boolean {
    return this.#head.length === 0 && this.#tail.length === 0 && this.#underWay === null;
  }

  /** A stream stands in the middle of a character: at the end that is something to store. */
  get hasHalfCharacter(): boolean {
    return this.#halves.size > 0;
  }

  /** All bytes that came, kept or not. */
  get printed(): number {
    return this.#printed;
  }

  write(stream: LogStream, bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      const toHeadEnd = LOG_HEAD_BYTES - this.#printed;
      const most = toHeadEnd > 0 ? Math.min(toHeadEnd, LOG_CHUNK_BYTES) : LOG_CHUNK_BYTES;
      const part = bytes.subarray(at, at + most);
      this.#add(stream, part);
      at += part.length;
    }
  }

  #add(stream: LogStream, part: Uint8Array): void {
    const isHead = this.#printed < LOG_HEAD_BYTES;
    const pieces = isHead ? this.#head : this.#tail;
    const last = pieces.at(-1);
    const joins = last?.stream === stream && last.bytes.length + part.length <= JOIN_BYTES;
    if (joins) {
      last.bytes = Buffer.concat([last.bytes, part]);
    } else {
      // A copy: the bytes that were read are a small part of a large block that would be kept with them.
      pieces.push({ start: this.#printed, stream, bytes: Buffer.from(part) });
    }
    this.#printed += part.length;
    if (!isHead) this.#tailCost += part.length + (joins ? 0 : COST_OF_A_PIECE);
    this.#leaveOut();
  }

  #leaveOut(): void {
    for (;;) {
      const oldest = this.#tail[this.#tailFrom];
      if (oldest === undefined || this.#tailCost - costOf(oldest) < LOG_TAIL_BYTES) break;
      this.#tailCost -= costOf(oldest);
      this.#tailFrom += 1;
    }
    // Now and then, not each time: moving all the others up costs more than the piece itself.
    if (this.#tailFrom > this.#tail.length / 2) {
      this.#tail = this.#tail.slice(this.#tailFrom);
      this.#tailFrom = 0;
    }
  }

  /** The chunks to store next, the same ones until they are `stored`. `isEnd`: nothing more will be written. */
  take(isEnd: boolean): readonly LogChunk[] {
    if (this.#underWay !== null) return this.#underWay;
    const pieces = [...this.#head, ...this.#tail.slice(this.#tailFrom)];
    this.#dropPieces();
    const chunks = joined(pieces).map((piece) => this.#decode(piece));
    this.#underWay = isEnd ? [...chunks, ...this.#halfCharacters()] : chunks;
    return this.#underWay;
  }

  #decode({ start, stream, bytes }: Piece): LogChunk {
    if (endsInsideCharacter(bytes)) this.#halves.add(stream);
    else this.#halves.delete(stream);
    const text = this.#decoder(stream).decode(bytes, { stream: true }).replaceAll("\u0000", "\uFFFD");
    return { start, end: start + bytes.length, stream, text };
  }

  stored(): void {
    this.#underWay = null;
  }

  /** Nobody wants it any more. */
  clear(): void {
    this.#dropPieces();
    this.#underWay = null;
  }

  #dropPieces(): void {
    this.#head = [];
    this.#tail = [];
    this.#tailFrom = 0;
    this.#tailCost = 0;
  }

  /** A stream that ended in the middle of a character. */
  #halfCharacters(): readonly LogChunk[] {
    this.#halves.clear();
    return [...this.#decoders].flatMap(([stream, decoder]) => {
      const text = decoder.decode();
      if (text === "") return [];
      const start = this.#printed;
      this.#printed += 1;
      return [{ start, end: start + 1, stream, text }];
    });
  }

  #decoder(stream: LogStream): TextDecoder {
    const known = this.#decoders.get(stream) ?? new TextDecoder("utf-8", { ignoreBOM: true });
    this.#decoders.set(stream, known);
    return known;
  }
}

function costOf({ bytes }: Piece): number {
  return bytes.length + COST_OF_A_PIECE;
}

/** Neighbours of one stream become one chunk, up to its size; so a chunk never spans something that was left out. */
function joined(pieces: readonly Piece[]): readonly Piece[] {
  const groups: { readonly first: Piece; readonly parts: Buffer[]; length: number }[] = [];
  for (const piece of pieces) {
    const last = groups.at(-1);
    const follows =
      last !== undefined &&
      last.first.stream === piece.stream &&
      last.first.start + last.length === piece.start &&
      last.length + piece.bytes.length <= LOG_CHUNK_BYTES;
    if (follows) {
      last.parts.push(piece.bytes);
      last.length += piece.bytes.length;
    } else {
      groups.push({ first: piece, parts: [piece.bytes], length: piece.bytes.length });
    }
  }
  return groups.map(({ first, parts }) => ({ ...first, bytes: Buffer.concat(parts) }));
}

/** Whether the last character of these bytes may go on in the next ones. */
function endsInsideCharacter(bytes: Buffer): boolean {
  for (const back of [1, 2, 3]) {
    const byte = bytes.at(-back) ?? 0;
    if (byte < 0x80) return false;
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2);
  }
  return false;
}
